import type { FileFormat } from '../file.ts'
import { kept } from '../changes.ts'
import { openFile } from './file.ts'
import type { Turn } from '../changes.ts'

/** Which build of a model's version is live: one small file, followed by every process. */
export type Pointers = {
  live(model: string, version: number): string | undefined
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(model: string, version: number, build: string): string
  point(model: string, version: number, build: string): void
  isLive(build: string): boolean
  close(): void
}

/** `AdRp` in ASCII. */
const format: FileFormat = {
  name: 'index of read models',
  applicationId: 0x41645270,
  versions: [
    (db) =>
      db.exec(`CREATE TABLE live (
        model TEXT NOT NULL, version INTEGER NOT NULL, build TEXT NOT NULL, PRIMARY KEY (model, version)
      ) STRICT, WITHOUT ROWID`),
  ],
}

const nameOf = (model: string, version: number | bigint) => `${model}-v${version}`

export function openPointers(path: string, turn: Turn): Pointers {
  const db = openFile(path, format, { cache: 256, make: true })
  const rows = db.prepare<[], [model: string, version: number, build: string]>('SELECT * FROM live').raw()
  const insert = db.prepare('INSERT OR IGNORE INTO live VALUES (?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO live VALUES (?, ?, ?)')
  const known = kept(db, turn, () => new Map(rows.all().map(([model, version, id]) => [nameOf(model, version), id])))
  return {
    live: (model, version) => known.now().get(nameOf(model, version)),
    claim(model, version, build) {
      insert.run(model, version, build)
      known.forget()
      return known.now().get(nameOf(model, version)) ?? build
    },
    point(model, version, build) {
      replace.run(model, version, build)
      known.forget()
    },
    isLive: (build) => [...known.now().values()].includes(build),
    close: () => void db.close(),
  }
}
