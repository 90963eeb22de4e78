import { readdirSync, statSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ModelDeclaration } from '../read-store.ts'
import { buildOf, type OpenBuild } from './build.ts'
import { createFile, isOpenSomewhere, openFile, removeFile, type Format } from './file.ts'
import type { Pointers } from './pointers.ts'
import { schemaOf } from './schema.ts'

/** The builds' files of one folder, each opened once a process. */
export type Builds = {
  make(declaration: ModelDeclaration): OpenBuild
  open(declaration: ModelDeclaration, id: string): OpenBuild
  /** Removes a build when every reader has had time to follow the pointer. */
  retire(declaration: ModelDeclaration, id: string): void
  remove(declaration: ModelDeclaration, id: string): void
  /** Removes what processes that were killed left behind: neither live nor open in any process. */
  removeLeftovers(): void
  close(): void
}

const format: Format = { what: 'a read model', applicationId: 0x41646d72, version: 1 }
const CACHE = 64 * 1024
const FILE_NAME = /^read-.+-v\d+-([0-9a-f]+)\.db$/

/** Time for other processes to finish what they read from the old build. */
const RETIREMENT = 60_000
/** A file younger than this may be about to be opened by the process that made it, in milliseconds. */
const NEW = 60_000

export function openBuilds(
  folder: string,
  pointers: Pointers,
  later: (action: () => void, milliseconds: number) => void,
): Builds {
  const opened = new Map<string, OpenBuild>()
  const pathOf = ({ name, version }: ModelDeclaration, id: string) => join(folder, `read-${name}-v${version}-${id}.db`)

  function remember(build: OpenBuild): OpenBuild {
    opened.set(build.id, build)
    return build
  }

  function remove(declaration: ModelDeclaration, id: string): void {
    opened.get(id)?.close()
    opened.delete(id)
    removeFile(pathOf(declaration, id))
  }

  return {
    make(declaration) {
      const id = randomBytes(6).toString('hex')
      const db = createFile(pathOf(declaration, id), format, schemaOf(declaration), CACHE)
      return remember(buildOf(db, declaration, id))
    },
    open: (declaration, id) =>
      opened.get(id) ?? remember(buildOf(openFile(pathOf(declaration, id), format, CACHE), declaration, id)),
    retire: (declaration, id) => later(() => remove(declaration, id), RETIREMENT),
    remove,
    removeLeftovers() {
      for (const name of readdirSync(folder)) {
        const id = FILE_NAME.exec(name)?.[1]
        const path = join(folder, name)
        if (id === undefined || pointers.isLive(id) || isNew(path) || isOpenSomewhere(path)) continue
        removeFile(path)
      }
    },
    close() {
      for (const build of opened.values()) build.close()
      opened.clear()
    },
  }
}

const isNew = (path: string) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < NEW
