import { randomBytes } from 'node:crypto'
import type { PositionOrStart } from '../../ports/event-store.ts'
import type { ModelDeclaration, ReadModel } from '../../ports/read-store.ts'
import { readLinearizable } from '../linearizable-reads.ts'
import { BATCH, type MongoDatabase } from '../connection.ts'
import { createBuild, type MongoBuild } from './build.ts'
import { collectionsOf, dropCollections, makeIndexes } from './collections.ts'
import { addProgress, deadLettersOf, progressesIn } from './progress.ts'
import type { MongoBuildPointers } from './pointers.ts'

type MongoBuilds = {
  make(declaration: ModelDeclaration): Promise<MongoBuild>
  open(declaration: ModelDeclaration, id: string): MongoBuild
  exists(id: string): Promise<boolean>
  remove(declaration: ModelDeclaration, id: string): Promise<void>
  /**
   * Removes builds left by killed processes: of this model version, not live, and not written to for
   * ABANDONED_AFTER_MS. A pending build is kept so that the next rebuild can resume it.
   */
  removeAbandoned(declaration: ModelDeclaration): Promise<void>
}

const ABANDONED_AFTER_MS = 3_600_000

export function buildsIn(mongo: MongoDatabase, pointers: MongoBuildPointers): MongoBuilds {
  const { db, call } = mongo
  const progressCollection = progressesIn(db)
  const opened = new Map<string, MongoBuild>()

  function open(declaration: ModelDeclaration, id: string): MongoBuild {
    const build = opened.get(id) ?? createBuild(mongo, declaration, id)
    opened.set(id, build)
    return build
  }

  /** Deletes the build's progress document first; collections that remain after a crash are unreferenced and harmless. */
  async function remove(declaration: ModelDeclaration, id: string): Promise<void> {
    opened.delete(id)
    await call(() => progressCollection.deleteOne({ _id: id }))
    await call(() => deadLettersOf(db, id).removeAll())
    await call(() => dropCollections(collectionsOf(db, declaration, id)), BATCH)
  }

  return {
    open,
    remove,
    async make(declaration) {
      const id = randomBytes(6).toString('hex')
      await call(() => makeIndexes(collectionsOf(db, declaration, id), declaration), BATCH)
      await call(() => addProgress(progressCollection, id, declaration))
      return open(declaration, id)
    },
    async exists(id) {
      if ((await call(() => progressCollection.findOne({ _id: id }))) !== null) return true
      return (await readLinearizable(mongo, (options) => progressCollection.findOne({ _id: id }, options))) !== null
    },
    async removeAbandoned(declaration) {
      const { name, version } = declaration
      const changedAt = { $lt: Date.now() - ABANDONED_AFTER_MS }
      const old = await call(() => progressCollection.find({ model: name, modelVersion: version, changedAt }).toArray())
      const inUse = new Set([...(await pointers.allLive()), ...(await pointers.allPending())])
      for (const { _id } of old) if (!inUse.has(_id)) await remove(declaration, _id)
    },
  }
}

const NO_STREAMS: ReadonlySet<string> = new Set()
const start: PositionOrStart = 'start'

/** Reads the live build. A result never mixes two builds. */
export function createLiveReadModel(
  declaration: ModelDeclaration,
  pointers: MongoBuildPointers,
  builds: MongoBuilds,
): ReadModel {
  async function queryLiveBuild<Answer>(
    fallback: Answer,
    query: (build: MongoBuild) => Promise<Answer>,
  ): Promise<Answer> {
    const id = await pointers.liveBuild(declaration)
    return id === undefined ? fallback : query(builds.open(declaration, id))
  }

  return {
    get: (id, select) => queryLiveBuild(undefined, ({ queries }) => queries.get(id, select)),
    find: (query) => queryLiveBuild([], ({ queries }) => queries.find(query)),
    count: (where, countLimit) => queryLiveBuild(0, ({ queries }) => queries.count(where, countLimit)),
    counts: (where) => queryLiveBuild([], ({ queries }) => queries.counts(where)),
    sequences: (ids) => queryLiveBuild([], (build) => build.loadSequences(ids)),
    position: () => queryLiveBuild(start, (build) => build.position()),
    parkedStreams: () => queryLiveBuild(NO_STREAMS, (build) => build.parkedStreams()),
  }
}
