import type { Collection, FindOptions } from 'mongodb'
import type { From } from '../../ports/event-store.ts'
import {
  SEQUENCES,
  type Build,
  type Document,
  type ModelDeclaration,
  type Table,
  type Write,
} from '../../ports/read-store.ts'
import { confirmed } from '../confirmed.ts'
import { BATCH, type Mongo } from '../connection.ts'
import { collectionsOf } from './collections.ts'
import { isRemoved, keyOf, picked, type Held } from './shape.ts'
import { count, heldBy, storedOf, writeDocuments } from './writing.ts'
import { advance, deadLettersOf, isAhead, progressesIn, reachedBy, readProgress, type Progress } from './progress.ts'
import { checkpointOf } from '../place.ts'
import { queriesOf, type Queries } from './queries.ts'

/** A build's collections: what the runner writes to and what requests read. */
export type OpenBuild = Build & {
  readonly queries: Queries
  sequencesOf(ids: readonly number[]): Promise<readonly Document[]>
  position(): Promise<From>
  parked(): Promise<ReadonlySet<string>>
}

/** Documents that are read together in a walk. */
const PAGE = 500

const none: ReadonlySet<string> = new Set()

/** The keys of which nothing was found. What is missing for a fold is no less a stale read than what is old. */
function without(keys: readonly string[], found: readonly Held[]): string[] {
  const there = new Set(found.map(({ _id }) => _id))
  return keys.filter((key) => !there.has(key))
}

export function buildOf(mongo: Mongo, declaration: ModelDeclaration, id: string): OpenBuild {
  const { db, call } = mongo
  const collections = collectionsOf(db, declaration, id)
  const all = progressesIn(db)
  const setAside = deadLettersOf(db, id)
  const sequences = tableOf(mongo, SEQUENCES, collections.sequences)
  const progressNow = () => call(() => readProgress(all, id))
  /** As this process left it. Where another was faster, the next change fails, and it is read again. */
  let known: Progress | undefined

  const counted = { mongo, collections, declaration }

  /** @returns false where another runner was faster */
  async function replace(
    of: ModelDeclaration,
    collection: Collection<Held>,
    writes: readonly Write[],
    read: () => Promise<ReadonlyMap<string, Held>>,
  ): Promise<boolean> {
    if (writes.length === 0) return true
    const next = writes.map((write) => heldBy(of, write))
    const stored = await read()
    return call(() => writeDocuments(collection, next, stored), BATCH)
  }

  /** @returns false where another runner was faster: everything is decided again, which changes nothing twice */
  async function tryToWrite(
    progress: Progress,
    ...[writes, checkpoint, set = [], sequenced = []]: Parameters<Build['write']>
  ) {
    const counting = { settled: reachedBy(progress), at: checkpoint.position }
    const written = await Promise.all([
      replace(declaration, collections.documents, writes, () => count(counted, writes, counting)),
      replace(SEQUENCES, collections.sequences, sequenced, () =>
        storedOf(mongo, collections.sequences, SEQUENCES, sequenced),
      ),
    ])
    if (written.includes(false)) return false
    await call(() => setAside.add(set))
    known = await call(() => advance(all, progress, { checkpoint, parked: set.length > 0 }))
    return known !== undefined
  }

  return {
    id,
    queries: queriesOf(mongo, collections, declaration),
    position: async () => reachedBy(await progressNow()),
    parked: async () => ((await progressNow()).parked ? call(() => setAside.streams()) : none),
    async checkpoint() {
      const { checkpoint } = await progressNow()
      return checkpoint === null ? undefined : checkpointOf(checkpoint)
    },
    ...tableOf(mongo, declaration, collections.documents),
    sequences,
    async sequencesOf(ids) {
      const found = await call(() => collections.sequences.find<Held>({ _id: { $in: ids.map(keyOf) } }).toArray())
      return found.map((held) => picked(held, ['id', 'state']))
    },
    async write(writes, checkpoint, set, sequenced) {
      for (;;) {
        const progress = known ?? (await progressNow())
        if (!isAhead(progress, checkpoint)) return
        if (await tryToWrite(progress, writes, checkpoint, set, sequenced)) return
        known = undefined
      }
    },
    deadLetters: () => call(() => setAside.all()),
    async release(stream) {
      await call(() => setAside.remove(stream))
    },
  }
}

function tableOf(mongo: Mongo, declaration: ModelDeclaration, collection: Collection<Held>): Table {
  const { call } = mongo
  const whole = [...Object.keys(declaration.fields), ...declaration.texts]
  return {
    async load(keys, least) {
      if (keys.length === 0) return []
      const [first = '', ...others] = keys.map(keyOf)
      const filter = { _id: others.length === 0 ? first : { $in: [first, ...others] } }
      const projection = Object.fromEntries(['revision', ...whole].map((name) => [name, 1]))
      const found = least === undefined ? await call(() => collection.find<Held>(filter, { projection }).toArray()) : []
      const missing = without(keys.map(keyOf), found)
      if (missing.length > 0) {
        const those = { _id: { $in: missing } }
        const read = (options: FindOptions) => collection.find<Held>(those, { ...options, projection }).toArray()
        found.push(...(await confirmed(mongo, read)))
      }
      return found
        .filter((held) => !isRemoved(held))
        .map((held) => ({ document: picked(held, whole), revision: held.revision }))
    },
    async *walk(texts = declaration.texts) {
      const names = [...Object.keys(declaration.fields), ...texts]
      const projection = Object.fromEntries(['revision', ...names].map((name) => [name, 1]))
      let behind: string | undefined
      for (;;) {
        const filter = behind === undefined ? {} : { _id: { $gt: behind } }
        const options = { projection, sort: { _id: 1 }, limit: PAGE, batchSize: PAGE } as const
        const page = await call(() => collection.find<Held>(filter, options).toArray())
        yield page
          .filter((held) => !isRemoved(held))
          .map((held) => ({ document: picked(held, names), revision: held.revision }))
        if (page.length < PAGE) return
        behind = page.at(-1)?._id
      }
    },
  }
}
