import Database from 'better-sqlite3'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** Bytes of a page of the event log and the vault. Read models have pages twice as large. */
const PAGE = 4096

/** Overwrites pages of a file with bytes that no page of a database has. */
function overwrite(file: string, pages: readonly number[]): void {
  const descriptor = openSync(file, 'r+')
  for (const page of pages) writeSync(descriptor, Buffer.alloc(PAGE, 0xa5), 0, PAGE, page * PAGE)
  closeSync(descriptor)
}

const pagesOf = (file: string) => Math.floor(statSync(file).size / PAGE)

/** All pages but the first two, which are the first page of a read model. */
export const overwriteMiddle = (file: string): void =>
  overwrite(
    file,
    Array.from({ length: pagesOf(file) - 2 }, (_, index) => index + 2),
  )

/** Overwrites the page of a table that holds a text. */
export function overwritePageWith(file: string, text: string): void {
  const found = readFileSync(file).indexOf(text)
  if (found < 0) throw new Error(`${file} does not hold ${text}`)
  overwrite(file, [Math.floor(found / PAGE)])
}

/** What can happen to a file of SQLite on a failing disk or by an operator's mistake. */
export const DAMAGES: readonly (readonly [name: string, damage: (file: string) => void])[] = [
  ['whose first page was overwritten', (file) => overwrite(file, [0])],
  ['whose other pages were overwritten', overwriteMiddle],
  ['that was cut in half', (file) => truncateSync(file, Math.floor(pagesOf(file) / 2) * PAGE)],
  ['that is empty', (file) => truncateSync(file, 0)],
  ['that was replaced by a text', (file) => writeFileSync(file, 'read models\n'.repeat(1_000))],
  [
    'that was replaced by a folder',
    (file) => {
      rmSync(file)
      mkdirSync(file)
    },
  ],
]

/** The file in a folder whose name begins with `begins`. */
export function fileIn(folder: string, begins: string): string {
  const names = readdirSync(folder).filter((one) => one.startsWith(begins) && one.endsWith('.db'))
  const [name] = names
  if (name === undefined || names.length > 1) throw new Error(`expected one file ${begins}, got ${names.join(', ')}`)
  return join(folder, name)
}

/** Names of the files that were put aside. */
export const putAsideIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => /\.damaged-[^-]+-[^-]+-[^-]+-[^-]+-[^-]+$/.test(name))

/** Commits an empty change as another process, so that open connections read the file again. */
export function commitElsewhere(file: string): void {
  const db = new Database(file)
  db.exec('BEGIN IMMEDIATE')
  db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true }))}`)
  db.exec('COMMIT')
  db.close()
}
