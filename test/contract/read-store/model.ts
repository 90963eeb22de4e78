import type {
  Checkpoint,
  DeadLetter,
  Document,
  ModelDeclaration,
  ReadStore,
  DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'

/** The read model on which the contract's rules run: diamonds with the filters and orders of their lists. */
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

/** A diamond's document with default values. */
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

const positionOf = (n: number) => ({ commit: BigInt(n), prepare: BigInt(n) })

/** A checkpoint at the `n`-th event of the test log. */
export const at = (n: number): Checkpoint => ({
  position: positionOf(n),
  log: 'log-1',
  event: { id: `event-${n}`, position: positionOf(n) },
})

export const letter = (stream: string, n: number): DeadLetter => ({
  stream,
  revision: BigInt(n),
  position: positionOf(n),
  event: `event-${n}`,
  type: 'DiamondPatched',
  reason: 'carat is no number',
})

export const newestFirst = [
  ['date', 'desc'],
  ['id', 'desc'],
] as const

/** The ids of an owner's documents, oldest first. */
export async function idsIn(store: ReadStore, owner = 1): Promise<unknown[]> {
  const model = await store.model(diamonds)
  const order = [['date', 'asc'] as const, ['id', 'asc'] as const]
  const found = await model.find({ where: { owner }, order, limit: 1000, offset: 0, select: ['id'] })
  return found.map((document) => document['id'])
}

/** An empty store; `openAnother` opens another store on the same data, as another process does. */
export type OpenedReadStore = {
  readonly store: ReadStore
  readonly openAnother: () => Promise<ReadStore>
  /** Resolves when all stores show the earlier changes of the others. */
  readonly changesVisible: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A test with its own store, which is closed even if the test fails. */
export const using =
  (open: () => Promise<OpenedReadStore>, action: (opened: OpenedReadStore) => Promise<void>) => async () => {
    const opened = await open()
    try {
      await action(opened)
    } finally {
      await opened.close()
    }
  }
