import type { FileFormat } from '../file.ts'
import { kept } from '../changes.ts'
import { openFile } from './file.ts'
import type { Filling } from '../../ports/read-store.ts'
import type { Turn } from '../changes.ts'

/** Which build of a model's version is live: one small file, followed by every process. */
export type Pointers = {
  live(model: string, version: number): string | undefined
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(model: string, version: number, build: string): string
  /** In one transaction with the end of the record that it is being filled. */
  point(model: string, version: number, build: string): void
  isLive(build: string): boolean
  filling(model: string, version: number): Filling | undefined
  /** Records what is being filled, in place of what was. */
  fill(model: string, version: number, filling: Filling): void
  /** Ends the record of a build. */
  forget(build: string): void
  isFilling(build: string): boolean
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
    (db) =>
      db.exec(`CREATE TABLE filling (
        model TEXT NOT NULL, version INTEGER NOT NULL, build TEXT NOT NULL, filled INTEGER NOT NULL,
        PRIMARY KEY (model, version)
      ) STRICT, WITHOUT ROWID`),
  ],
}

type FillingRow = [model: string, version: number, build: string, filled: number]

const nameOf = (model: string, version: number | bigint) => `${model}-v${version}`

export function openPointers(path: string, turn: Turn): Pointers {
  const db = openFile(path, format, { cache: 256, make: true })
  const rows = db.prepare<[], [model: string, version: number, build: string]>('SELECT * FROM live').raw()
  const insert = db.prepare('INSERT OR IGNORE INTO live VALUES (?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO live VALUES (?, ?, ?)')
  const recorded = db.prepare<[], FillingRow>('SELECT * FROM filling').raw()
  const record = db.prepare('INSERT OR REPLACE INTO filling VALUES (?, ?, ?, ?)')
  const erase = db.prepare('DELETE FROM filling WHERE build = ?')
  const read = () => ({
    live: new Map(rows.all().map(([model, version, id]) => [nameOf(model, version), id])),
    filling: new Map(
      recorded.all().map(([model, version, id, filled]) => [nameOf(model, version), { id, isFilled: filled === 1 }]),
    ),
  })
  const known = kept(db, turn, read)
  const pointed = db.transaction((model: string, version: number, build: string) => {
    replace.run(model, version, build)
    erase.run(build)
  })
  return {
    live: (model, version) => known.now().live.get(nameOf(model, version)),
    claim(model, version, build) {
      insert.run(model, version, build)
      known.forget()
      return known.now().live.get(nameOf(model, version)) ?? build
    },
    point(model, version, build) {
      pointed.immediate(model, version, build)
      known.forget()
    },
    isLive: (build) => [...known.now().live.values()].includes(build),
    filling: (model, version) => known.now().filling.get(nameOf(model, version)),
    fill(model, version, { id, isFilled }) {
      record.run(model, version, id, isFilled ? 1 : 0)
      known.forget()
    },
    forget(build) {
      erase.run(build)
      known.forget()
    },
    isFilling: (build) => [...known.now().filling.values()].some(({ id }) => id === build),
    close: () => void db.close(),
  }
}
