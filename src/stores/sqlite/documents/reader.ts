import type { ModelDeclaration, ReadModel } from '../../ports/read-store.ts'
import type { OpenBuild } from './build.ts'
import type { Builds } from './builds.ts'
import { available } from './failure.ts'
import type { Pointers } from './pointers.ts'

const none: ReadonlySet<string> = new Set()

/** Reads whatever build is live at each call; an answer never mixes two, since each is one statement on one file. */
export function followLive(declaration: ModelDeclaration, pointers: Pointers, builds: Builds): ReadModel {
  let followed: OpenBuild | undefined

  function current(): OpenBuild | undefined {
    const id = pointers.live(declaration.name, declaration.version)
    if (id === followed?.id) return followed
    if (followed !== undefined) builds.retire(declaration, followed.id)
    followed = id === undefined ? undefined : builds.open(declaration, id, 'live')
    return followed
  }

  return {
    get: (id, select) => available(() => current()?.queries.get(id, select)),
    find: (query) => available(() => current()?.queries.find(query) ?? []),
    count: (where, bounded) => available(() => current()?.queries.count(where, bounded) ?? 0),
    counts: (where) => available(() => current()?.queries.counts(where) ?? []),
    position: () => available(() => current()?.position() ?? 'start'),
    parked: () => available(() => current()?.parked() ?? none),
  }
}
