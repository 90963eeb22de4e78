import type { Operation, Outcome, SeenStone, StoneOperation } from './operation.ts'

/** A create or change, which sets a stone's price. */
export type Write = {
  readonly price: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
  /** The stone's revision after the write, if the response had it. */
  readonly revision: number | undefined
  readonly operation: Operation
}

/** A stone in a response. */
export type Observation = { readonly operation: StoneOperation; readonly shown: SeenStone }

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
  const historyOf = (sku: string): StoneHistory => {
    const existing = histories.get(sku)
    if (existing !== undefined) return existing
    const history: StoneHistory = { sku, writes: [], deletes: [], observations: [], misses: [] }
    histories.set(sku, history)
    return history
  }
  for (const operation of operations) addOperation(operation, historyOf)
  for (const { writes } of histories.values()) writes.sort((a, b) => a.startedAt - b.startedAt)
  return histories
}

function addOperation(operation: Operation, historyOf: (sku: string) => StoneHistory): void {
  const { startedAt, endedAt, outcome } = operation
  switch (operation.kind) {
    case 'create':
      for (const { sku, price } of operation.wanted)
        historyOf(sku).writes.push({ price, startedAt, endedAt, outcome, revision: 0, operation })
      return addObservations(operation, historyOf)
    case 'change':
      historyOf(operation.sku).writes.push({
        price: operation.price,
        startedAt,
        endedAt,
        outcome,
        revision: operation.revision,
        operation,
      })
      if (outcome === 'missing') historyOf(operation.sku).misses.push(operation)
      return
    case 'delete':
      historyOf(operation.sku).deletes.push(operation)
      if (outcome === 'missing') historyOf(operation.sku).misses.push(operation)
      return
    case 'read':
      if (outcome === 'done' && operation.shown)
        historyOf(operation.sku).observations.push({ operation, shown: operation.shown })
      if (outcome === 'missing') historyOf(operation.sku).misses.push(operation)
      return
    case 'list':
      addObservations(operation, historyOf)
      if (outcome === 'done' && operation.sku !== undefined && operation.shown.length === 0)
        historyOf(operation.sku).misses.push(operation)
      return
    default:
  }
}

function addObservations(
  operation: StoneOperation & { shown: readonly SeenStone[] },
  historyOf: (sku: string) => StoneHistory,
): void {
  if (operation.outcome !== 'done') return
  for (const shown of operation.shown) historyOf(shown.sku).observations.push({ operation, shown })
}
