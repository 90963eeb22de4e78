import { randomBytes } from 'node:crypto'
import type { From } from '../../ports/event-store.ts'
import type { ModelDeclaration, ReadModel } from '../../ports/read-store.ts'
import { confirmed } from '../confirmed.ts'
import { BATCH, type Mongo } from '../connection.ts'
import { buildOf, type OpenBuild } from './build.ts'
import { collectionsOf, dropCollections, makeIndexes } from './collections.ts'
import { addProgress, deadLettersOf, progressesIn } from './progress.ts'
import type { Pointers } from './pointers.ts'

/** The builds of one database. */
export type Builds = {
  make(declaration: ModelDeclaration): Promise<OpenBuild>
  open(declaration: ModelDeclaration, id: string): OpenBuild
  exists(id: string): Promise<boolean>
  remove(declaration: ModelDeclaration, id: string): Promise<void>
  /**
   * Removes what runners left behind that were killed: of this model's version, not live, and not written to any more. What is
   * recorded as being filled stays: the next rebuild goes on with it.
   */
  removeLeftovers(declaration: ModelDeclaration): Promise<void>
}

/** Milliseconds without a write after which a build that is not live has nobody who fills it. */
const ABANDONED = 3_600_000

export function buildsIn(mongo: Mongo, pointers: Pointers): Builds {
  const { db, call } = mongo
  const all = progressesIn(db)
  const opened = new Map<string, OpenBuild>()

  function open(declaration: ModelDeclaration, id: string): OpenBuild {
    const build = opened.get(id) ?? buildOf(mongo, declaration, id)
    opened.set(id, build)
    return build
  }

  /** What says that the build is there goes first: what is left after a crash has no name, and harms nobody. */
  async function remove(declaration: ModelDeclaration, id: string): Promise<void> {
    opened.delete(id)
    await call(() => all.deleteOne({ _id: id }))
    await call(() => deadLettersOf(db, id).removeAll())
    await call(() => dropCollections(collectionsOf(db, declaration, id)), BATCH)
  }

  return {
    open,
    remove,
    async make(declaration) {
      const id = randomBytes(6).toString('hex')
      await call(() => makeIndexes(collectionsOf(db, declaration, id), declaration), BATCH)
      await call(() => addProgress(all, id, declaration))
      return open(declaration, id)
    },
    async exists(id) {
      if ((await call(() => all.findOne({ _id: id }))) !== null) return true
      return (await confirmed(mongo, (options) => all.findOne({ _id: id }, options))) !== null
    },
    async removeLeftovers(declaration) {
      const { name, version } = declaration
      const changedAt = { $lt: Date.now() - ABANDONED }
      const old = await call(() => all.find({ model: name, modelVersion: version, changedAt }).toArray())
      const kept = new Set([...(await pointers.all()), ...(await pointers.allFilling())])
      for (const { _id } of old) if (!kept.has(_id)) await remove(declaration, _id)
    },
  }
}

const none: ReadonlySet<string> = new Set()
const start: From = 'start'

/** Reads whatever build is live; an answer never mixes two. */
export function followLive(declaration: ModelDeclaration, pointers: Pointers, builds: Builds): ReadModel {
  async function ask<Answer>(before: Answer, question: (build: OpenBuild) => Promise<Answer>): Promise<Answer> {
    const id = await pointers.live(declaration)
    return id === undefined ? before : question(builds.open(declaration, id))
  }

  return {
    get: (id, select) => ask(undefined, ({ queries }) => queries.get(id, select)),
    find: (query) => ask([], ({ queries }) => queries.find(query)),
    count: (where, bounded) => ask(0, ({ queries }) => queries.count(where, bounded)),
    counts: (where) => ask([], ({ queries }) => queries.counts(where)),
    sequences: (ids) => ask([], (build) => build.sequencesOf(ids)),
    position: () => ask(start, (build) => build.position()),
    parked: () => ask(none, (build) => build.parked()),
  }
}
