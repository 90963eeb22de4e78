import type { Operation, Outcome, Sight, StoneOperation } from './operation.ts'

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
export type Look = { readonly by: StoneOperation; readonly shown: Sight }

/** All operations on the stone with one sku. */
export type Story = {
  readonly sku: string
  /** The first is its creation. */
  readonly writes: Write[]
  readonly deletes: StoneOperation[]
  readonly looks: Look[]
  /** The operations that did not find the stone. */
  readonly misses: StoneOperation[]
}

/** The stones of a history by sku; a stone that no client created has no writes. */
export function storiesOf(operations: readonly Operation[]): Map<string, Story> {
  const stories = new Map<string, Story>()
  const of = (sku: string): Story => {
    const known = stories.get(sku)
    if (known !== undefined) return known
    const story: Story = { sku, writes: [], deletes: [], looks: [], misses: [] }
    stories.set(sku, story)
    return story
  }
  for (const operation of operations) take(operation, of)
  for (const { writes } of stories.values()) writes.sort((a, b) => a.began - b.began)
  return stories
}

function take(by: Operation, of: (sku: string) => Story): void {
  const { began, ended, outcome } = by
  switch (by.kind) {
    case 'create':
      for (const { sku, price } of by.wanted) of(sku).writes.push({ price, began, ended, outcome, revision: 0, by })
      return look(by, of)
    case 'change':
      of(by.sku).writes.push({ price: by.price, began, ended, outcome, revision: by.revision, by })
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'delete':
      of(by.sku).deletes.push(by)
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'read':
      if (outcome === 'done' && by.shown) of(by.sku).looks.push({ by, shown: by.shown })
      if (outcome === 'missing') of(by.sku).misses.push(by)
      return
    case 'list':
      look(by, of)
      if (outcome === 'done' && by.sku !== undefined && by.shown.length === 0) of(by.sku).misses.push(by)
      return
    default:
  }
}

function look(by: StoneOperation & { shown: readonly Sight[] }, of: (sku: string) => Story): void {
  if (by.outcome !== 'done') return
  for (const shown of by.shown) of(shown.sku).looks.push({ by, shown })
}
