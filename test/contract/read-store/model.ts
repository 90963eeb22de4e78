import type {
  Checkpoint,
  DeadLetter,
  Document,
  ModelDeclaration,
  ReadStore,
  DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'

/** Diamonds, with all filters and orders of their lists: the contract holds for this model on every adapter. */
export const diamonds: ModelDeclaration = {
  name: 'diamonds',
  version: 1,
  fields: {
    id: 'integer',
    owner: 'integer',
    date: 'integer',
    sku: 'text',
    isColored: 'integer',
    isPublished: 'integer',
    etag: 'text',
  },
  texts: ['state', 'v3', 'v4'],
  indexes: [
    ['owner', 'date', 'id'],
    ['owner', 'sku', 'date', 'id'],
    ['owner', 'isColored', 'date', 'id'],
    ['owner', 'isPublished', 'date', 'id'],
    ['owner', 'isColored', 'isPublished', 'date', 'id'],
  ],
  counts: ['owner', 'isColored', 'isPublished'],
}

/** A diamond's document; what a test does not care about has a value anyway. */
export const diamond = (id: number, values: Readonly<Record<string, number | string>> = {}): Document => ({
  id,
  owner: 1,
  date: 1000 + id,
  sku: `SKU-${id}`,
  isColored: 0,
  isPublished: 0,
  etag: `etag of ${id}`,
  state: `state of ${id}`,
  v3: `v3 of ${id}`,
  v4: `v4 of ${id}`,
  ...values,
})

export const put = (document: Document, revision = 0n): DocumentWrite => ({ put: document, revision })
export const remove = (id: number, revision: bigint): DocumentWrite => ({ remove: id, revision })

const place = (n: number) => ({ commit: BigInt(n), prepare: BigInt(n) })

/** A checkpoint at the `n`-th event of the log of the tests. */
export const at = (n: number): Checkpoint => ({
  position: place(n),
  log: 'log-1',
  event: { id: `event-${n}`, position: place(n) },
})

export const letter = (stream: string, n: number): DeadLetter => ({
  stream,
  revision: BigInt(n),
  position: place(n),
  event: `event-${n}`,
  type: 'DiamondPatched',
  reason: 'carat is no number',
})

export const newestFirst = [
  ['date', 'desc'],
  ['id', 'desc'],
] as const

/** Every document's id, oldest first. */
export async function idsIn(store: ReadStore, owner = 1): Promise<unknown[]> {
  const model = await store.model(diamonds)
  const order = [['date', 'asc'] as const, ['id', 'asc'] as const]
  const found = await model.find({ where: { owner }, order, limit: 1000, offset: 0, select: ['id'] })
  return found.map((document) => document['id'])
}

/** An empty store to test, another opening of the same data (as another process has), and the end of both. */
export type Opened = {
  readonly store: ReadStore
  readonly again: () => Promise<ReadStore>
  /** Resolves when each opening sees what was changed through the others before. */
  readonly seen: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A test with a store of its own, which is closed however the test ends. */
export const using = (open: () => Promise<Opened>, action: (opened: Opened) => Promise<void>) => async () => {
  const opened = await open()
  try {
    await action(opened)
  } finally {
    await opened.close()
  }
}
