import { existsSync } from 'node:fs'
import { createFile, openFile, type Format } from './file.ts'

/** Which build of a model's version is live. One small file, followed by every process. */
export type Pointers = {
  live(model: string, version: number): string | undefined
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(model: string, version: number, build: string): string
  point(model: string, version: number, build: string): void
  isLive(build: string): boolean
  close(): void
}

const format: Format = { what: 'the list of live read models', applicationId: 0x41646d70, version: 1 }
const CACHE = 256
const schema = `CREATE TABLE IF NOT EXISTS live (
  model TEXT NOT NULL, version INTEGER NOT NULL, build TEXT NOT NULL, PRIMARY KEY (model, version)
) STRICT, WITHOUT ROWID`

export function openPointers(path: string): Pointers {
  const db = existsSync(path) ? openFile(path, format, CACHE) : createFile(path, format, schema, CACHE)
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const all = db.prepare<[], { name: string; build: string }>(
    `SELECT model || '-v' || version AS name, build FROM live`,
  )
  const insert = db.prepare('INSERT OR IGNORE INTO live VALUES (?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO live VALUES (?, ?, ?)')
  let seen = dataVersion.get()
  let known = read()

  function read(): Map<string, string> {
    return new Map(all.all().map(({ name, build }) => [name, build]))
  }

  function current(): Map<string, string> {
    const version = dataVersion.get()
    if (version !== seen) known = read()
    seen = version
    return known
  }

  return {
    live: (model, version) => current().get(`${model}-v${version}`),
    claim(model, version, build) {
      insert.run(model, version, build)
      known = read()
      return known.get(`${model}-v${version}`) ?? build
    },
    point(model, version, build) {
      replace.run(model, version, build)
      known = read()
    },
    isLive: (build) => [...current().values()].includes(build),
    close: () => void db.close(),
  }
}
