import type { From } from '../../ports/event-store.ts'
import type { ModelDeclaration, ReadModel } from '../../ports/read-store.ts'
import type { OpenBuild } from './build.ts'
import type { Builds } from './builds.ts'
import type { Pointers } from './pointers.ts'

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
    position: () => ask(start, (build) => build.position()),
    parked: () => ask(none, (build) => build.parked()),
  }
}
