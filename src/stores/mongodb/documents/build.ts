import type { Collection, FindOptions } from 'mongodb'
import type { PositionOrStart } from '../../ports/event-store.ts'
import {
  SEQUENCES_DECLARATION,
  type ReadModelBuild,
  type Document,
  type ModelDeclaration,
  type DocumentTable,
  type DocumentWrite,
} from '../../ports/read-store.ts'
import { inPages } from '../../pages.ts'
import { readLinearizable } from '../linearizable-reads.ts'
import { BATCH, type MongoDatabase } from '../connection.ts'
import { collectionsOf } from './collections.ts'
import { isTombstone, keyOf, pickValues, type MongoDocument } from './stored-documents.ts'
import { countBatch, toWrittenDocument, readStoredDocuments, writeDocuments } from './writes.ts'
import {
  advance,
  deadLettersOf,
  isCheckpointAhead,
  progressesIn,
  positionReachedBy,
  readProgress,
  type BuildProgressDocument,
} from './progress.ts'
import { decodeCheckpoint } from '../position-documents.ts'
import { queriesOf, type MongoQueries } from './queries.ts'

export type MongoBuild = ReadModelBuild & {
  readonly queries: MongoQueries
  loadSequences(ids: readonly number[]): Promise<readonly Document[]>
  position(): Promise<PositionOrStart>
  parkedStreams(): Promise<ReadonlySet<string>>
}

const PAGE = 500

const NO_STREAMS: ReadonlySet<string> = new Set()

/** The keys that were not found. A document missing from a stale read would corrupt a fold as much as an outdated one. */
function missingKeys(keys: readonly string[], found: readonly MongoDocument[]): string[] {
  const foundKeys = new Set(found.map(({ _id }) => _id))
  return keys.filter((key) => !foundKeys.has(key))
}

export function createBuild(mongo: MongoDatabase, declaration: ModelDeclaration, id: string): MongoBuild {
  const { db, call } = mongo
  const collections = collectionsOf(db, declaration, id)
  const progressCollection = progressesIn(db)
  const deadLetterStore = deadLettersOf(db, id)
  const sequences = tableOf(mongo, SEQUENCES_DECLARATION, collections.sequences)
  const readCurrentProgress = () => call(() => readProgress(progressCollection, id))
  /** As this process last wrote it. If another process was faster, the next write fails and it is read again. */
  let lastProgress: BuildProgressDocument | undefined

  const countedBuild = { mongo, collections, declaration }

  /** @returns false if another process was faster */
  async function replace(
    tableDeclaration: ModelDeclaration,
    collection: Collection<MongoDocument>,
    writes: readonly DocumentWrite[],
    read: () => Promise<ReadonlyMap<string, MongoDocument>>,
  ): Promise<boolean> {
    if (writes.length === 0) return true
    const next = writes.map((write) => toWrittenDocument(tableDeclaration, write))
    const stored = await read()
    return call(() => writeDocuments(collection, next, stored), BATCH)
  }

  /** @returns false if another process was faster: the caller decides again, which counts nothing twice */
  async function tryToWrite(
    progress: BuildProgressDocument,
    ...[writes, checkpoint, deadLetters = [], sequenceWrites = []]: Parameters<ReadModelBuild['write']>
  ) {
    const counting = { writtenTo: positionReachedBy(progress), at: checkpoint.position }
    const written = await Promise.all([
      replace(declaration, collections.documents, writes, () => countBatch(countedBuild, writes, counting)),
      replace(SEQUENCES_DECLARATION, collections.sequences, sequenceWrites, () =>
        readStoredDocuments(mongo, collections.sequences, SEQUENCES_DECLARATION, sequenceWrites),
      ),
    ])
    if (written.includes(false)) return false
    await call(() => deadLetterStore.add(deadLetters))
    lastProgress = await call(() =>
      advance(progressCollection, progress, { checkpoint, parked: deadLetters.length > 0 }),
    )
    return lastProgress !== undefined
  }

  return {
    id,
    queries: queriesOf(mongo, collections, declaration),
    position: async () => positionReachedBy(await readCurrentProgress()),
    parkedStreams: async () =>
      (await readCurrentProgress()).parked ? call(() => deadLetterStore.streams()) : NO_STREAMS,
    async checkpoint() {
      const { checkpoint } = await readCurrentProgress()
      return checkpoint === null ? undefined : decodeCheckpoint(checkpoint)
    },
    ...tableOf(mongo, declaration, collections.documents),
    sequences,
    async loadSequences(ids) {
      const found = await call(() =>
        collections.sequences.find<MongoDocument>({ _id: { $in: ids.map(keyOf) } }).toArray(),
      )
      return found.map((stored) => pickValues(stored, ['id', 'state']))
    },
    async write(writes, checkpoint, deadLetters, sequenceWrites) {
      for (;;) {
        const progress = lastProgress ?? (await readCurrentProgress())
        if (!isCheckpointAhead(progress, checkpoint)) return
        if (await tryToWrite(progress, writes, checkpoint, deadLetters, sequenceWrites)) return
        lastProgress = undefined
      }
    },
    deadLetters: () => call(() => deadLetterStore.all()),
    async unpark(stream) {
      await call(() => deadLetterStore.remove(stream))
    },
  }
}

function tableOf(
  mongo: MongoDatabase,
  declaration: ModelDeclaration,
  collection: Collection<MongoDocument>,
): DocumentTable {
  const { call } = mongo
  const allNames = [...Object.keys(declaration.fields), ...declaration.texts]
  return {
    async load(keys, consistency) {
      if (keys.length === 0) return []
      const [first = '', ...others] = keys.map(keyOf)
      const filter = { _id: others.length === 0 ? first : { $in: [first, ...others] } }
      const projection = Object.fromEntries(['revision', ...allNames].map((name) => [name, 1]))
      const found =
        consistency === undefined
          ? await call(() => collection.find<MongoDocument>(filter, { projection }).toArray())
          : []
      const missing = missingKeys(keys.map(keyOf), found)
      if (missing.length > 0) {
        const missingFilter = { _id: { $in: missing } }
        const read = (options: FindOptions) =>
          collection.find<MongoDocument>(missingFilter, { ...options, projection }).toArray()
        found.push(...(await readLinearizable(mongo, read)))
      }
      return found
        .filter((stored) => !isTombstone(stored))
        .map((stored) => ({ document: pickValues(stored, allNames), revision: stored.revision }))
    },
    async *scan(texts = declaration.texts) {
      const names = [...Object.keys(declaration.fields), ...texts]
      const projection = Object.fromEntries(['revision', ...names].map((name) => [name, 1]))
      const options = { projection, sort: { _id: 1 }, limit: PAGE, batchSize: PAGE } as const
      const read = (after: string | undefined) => {
        const filter = after === undefined ? {} : { _id: { $gt: after } }
        return call(() => collection.find<MongoDocument>(filter, options).toArray())
      }
      for await (const page of inPages(undefined, PAGE, ({ _id }) => _id, read))
        yield page
          .filter((stored) => !isTombstone(stored))
          .map((stored) => ({ document: pickValues(stored, names), revision: stored.revision }))
    },
  }
}
