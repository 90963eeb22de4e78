import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, readdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Files, Listed } from '../ports/files.ts'
import { available, ifThere } from './failure.ts'
import { identityIn } from './identity.ts'
import { IncomingFile } from './incoming.ts'
import { DIGEST, markAt, placesIn, type Places } from './places.ts'
import { leftoversIn, removeFile, removeLeftover } from './removal.ts'
import { Touching } from '../touching.ts'

/**
 * Files in a folder, `ab/cd/{digest}`. A file is written in `incoming/`, synced, renamed to its place, and its folder
 * synced. Any number of processes may work in one folder.
 */
export function openDirectoryFiles(folder: string): Files {
  const places = placesIn(folder)
  mkdirSync(places.incoming, { recursive: true })
  const touching = new Touching()
  const handles = new Set<FileHandle>()
  return {
    identity: () => available(() => identityIn(places)),
    receive: () =>
      available(async () => {
        const path = join(places.incoming, randomUUID())
        return new IncomingFile(path, await open(path, 'wx+', 0o600), { places, touching, handles })
      }),
    read: (digest, range) =>
      available(async () => {
        const handle = await ifThere(() => open(places.fileOf(digest), 'r'))
        return handle?.createReadStream(range)
      }),
    list: () => listFiles(places),
    markOf: (digest) => available(() => markAt(places.fileOf(digest))),
    remove: (digest, mark) => available(() => removeFile(places, digest, mark)),
    leftovers: () => leftoversIn(places),
    removeLeftover: (leftover) => available(() => removeLeftover(places, leftover)),
    async close() {
      touching.stop()
      await Promise.all([...handles].map((handle) => handle.close()))
      handles.clear()
    },
  }
}

/** Folder by folder: at no time is there more than one folder's names in memory. */
async function* listFiles(places: Places): AsyncIterable<Listed> {
  for (const first of await foldersIn(places.folder)) {
    for (const second of await foldersIn(join(places.folder, first))) {
      for (const digest of await readdir(join(places.folder, first, second))) {
        if (!DIGEST.test(digest)) continue
        const mark = await markAt(places.fileOf(digest))
        if (mark !== undefined) yield { digest, mark }
      }
    }
  }
}

const foldersIn = async (folder: string) => (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))
