import type { Operation, Outcome, SeenStone, StoneOperation } from './operation.ts'

/** A create or change, which sets a stone's price. */
export type Write = {
  readonly price: number
  readonly began: number
  readonly ended: number
  readonly outcome: Outcome
  /** The stone's revision after the write, if the response had it. */
  readonly revision: number | undefined
  readonly by: Operation
}

/** A stone in a response. */
export type Observation = { readonly by: StoneOperation; readonly shown: SeenStone }

/** All operations on the stone with one sku. */
export type StoneHistory = {
  readonly sku: string
  /** The first is its creation. */
  readonly writes: Write[]
  readonly deletes: StoneOperation[]
  readonly observations: Observation[]
  /** The operations that did not find the stone. */
  readonly misses: StoneOperation[]
}

/** The stones of a history by sku; a stone that no client created has no writes. */
export function stoneHistoriesOf(operations: readonly Operation[]): Map<string, StoneHistory> {
  const histories = new Map<string, StoneHistory>()
  const of = (sku: string): StoneHistory => {
    const known = histories.get(sku)
    if (known !== undefined) return known
    const history: StoneHistory = { sku, writes: [], deletes: [], observations: [], misses: [] }
    histories.set(sku, history)
    return history
  }
  for (const operation of operations) take(operation, of)
  for (const { writes } of histories.values()) writes.sort((a, b) => a.began - b.began)
  return histories
}

function take(by: Operation, of: (sku: string) => StoneHistory): void {
  const { began, ended, outcome } = by
  switch (by.kind) {
    case 'create':
      for (const { sku, price } of by.wanted) of(sku).writes.push({ price, began, ended, outcome, revision: 0, by })
      return observe(by, of)
    case 'change':
      of(by.sku).writes.push({ price: by.price, began, ended, outcome, revision: by.revision, by })
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'delete':
      of(by.sku).deletes.push(by)
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'read':
      if (outcome === 'done' && by.shown) of(by.sku).observations.push({ by, shown: by.shown })
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'list':
      observe(by, of)
      if (outcome === 'done' && by.sku !== undefined && by.shown.length === 0) of(by.sku).misses.push(by)
      return
    default:
  }
}

function observe(by: StoneOperation & { shown: readonly SeenStone[] }, of: (sku: string) => StoneHistory): void {
  if (by.outcome !== 'done') return
  for (const shown of by.shown) of(shown.sku).observations.push({ by, shown })
}
