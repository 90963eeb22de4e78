import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../folder/lock.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import type { Build, Filling, Lease, ModelDeclaration, ReadModel, ReadStore } from '../ports/read-store.ts'
import { warned, type Told } from '../../runtime/log.ts'
import { turns } from './changes.ts'
import { followLive, openBuilds, openPointers, type Later } from './documents/builds.ts'
import { available, whenWritable } from './documents/file.ts'
import { walThread, type WalThread } from './wal.ts'

/** Kept as long as the process lives: nobody can lose it and go on, so that there is nothing to fence. */
function takeLease(file: string): Lease | undefined {
  const lock = lockFile(file, 'exclusive', 0)
  return lock && { release: async () => lock.release(), lost: new Promise(() => undefined) }
}

export type DocumentsOptions = { readonly later?: Later; readonly told?: Told; readonly thread?: WalThread }

const unlessEnded: Later = (action, milliseconds) => void setTimeout(action, milliseconds).unref()

/**
 * Read models in SQLite files of one folder: a file a build, `read-{model}-v{version}-{build}.db`, and
 * `read-models.db`, which says which build is live. Any number of processes may read and write at once.
 * @throws Error when a file is of a newer release; StoreUnavailable when the folder can't be used
 */
export function openDocuments(
  folder: string,
  { later = unlessEnded, told = warned, thread = walThread }: DocumentsOptions = {},
): ReadStore {
  mkdirSync(folder, { recursive: true })
  const turn = turns()
  const pointers = available(() => openPointers(join(folder, 'read-models.db'), turn))
  const builds = openBuilds(folder, pointers, { turn, later, told, thread })
  builds.removeLeftovers()
  const readers = new Map<string, ReadModel>()
  const lockOf = ({ name, version }: ModelDeclaration) => join(folder, `read-${name}-v${version}.lock`)

  /** A file that was deleted by hand is made anew, and filled from the log. */
  function live(declaration: ModelDeclaration): Build {
    const { name, version } = declaration
    const known = pointers.live(name, version)
    if (known !== undefined && builds.exists(declaration, known)) return builds.open(declaration, known, 'live')
    const made = builds.make(declaration, 'live')
    try {
      if (known !== undefined) pointers.point(name, version, made.id)
      const id = pointers.claim(name, version, made.id)
      if (id !== made.id) builds.remove(declaration, made.id)
      return builds.open(declaration, id, 'live')
    } catch (error) {
      // A full disk can refuse the pointer after it has taken the file: every try would leave one more.
      if (!pointers.isLive(made.id)) builds.remove(declaration, made.id)
      throw error
    }
  }

  /** Recorded before the next process looks for what was left behind; one that was there goes. */
  function beginFilling(declaration: ModelDeclaration): Build {
    const { name, version } = declaration
    const before = pointers.filling(name, version)
    const made = builds.make(declaration, 'filling')
    try {
      pointers.fill(name, version, { id: made.id, isFilled: false })
    } catch (error) {
      builds.remove(declaration, made.id)
      throw error
    }
    if (before !== undefined && !pointers.isLive(before.id)) builds.remove(declaration, before.id)
    return made
  }

  /** A file that was deleted by hand is nothing to go on with. */
  function filling(declaration: ModelDeclaration): Filling | undefined {
    const found = pointers.filling(declaration.name, declaration.version)
    return found !== undefined && builds.exists(declaration, found.id) ? found : undefined
  }

  function openFilling(declaration: ModelDeclaration, { id }: Filling): Build {
    if (!builds.exists(declaration, id)) throw new StoreUnavailable(`the build ${id} of ${declaration.name} is gone`)
    return builds.open(declaration, id, 'filling')
  }

  return {
    async model(declaration) {
      const key = `${declaration.name}-v${declaration.version}`
      const reader = readers.get(key) ?? followLive(declaration, pointers, builds)
      readers.set(key, reader)
      return reader
    },
    lease: async (declaration) => available(() => takeLease(lockOf(declaration))),
    async isHeld(declaration) {
      const lease = available(() => takeLease(lockOf(declaration)))
      await lease?.release()
      return lease === undefined
    },
    live: (declaration) => whenWritable(() => live(declaration)),
    isLive: async ({ name, version }, { id }) => available(() => pointers.live(name, version) === id),
    begin: (declaration) => whenWritable(() => builds.make(declaration, 'filling')),
    beginFilling: (declaration) => whenWritable(() => beginFilling(declaration)),
    filling: async (declaration) => available(() => filling(declaration)),
    openFilling: async (declaration, found) => available(() => openFilling(declaration, found)),
    markFilled: ({ name, version }, { id }) =>
      whenWritable(() => {
        if (pointers.filling(name, version)?.id === id) pointers.fill(name, version, { id, isFilled: true })
      }),
    promote: (declaration, build) =>
      whenWritable(() => {
        const old = pointers.live(declaration.name, declaration.version)
        pointers.point(declaration.name, declaration.version, build.id)
        builds.settle(build.id)
        if (old !== undefined && old !== build.id) builds.retire(declaration, old)
      }),
    async drop(declaration, build) {
      if (pointers.isLive(build.id)) throw new Error(`build ${build.id} of ${declaration.name} is live`)
      await whenWritable(() => pointers.forget(build.id))
      builds.remove(declaration, build.id)
    },
    async close() {
      await builds.close()
      pointers.close()
    },
  }
}
