import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { openSqliteReadStore } from '../../src/stores/sqlite/documents.ts'
import { schemaOf, valueColumns } from '../../src/stores/sqlite/documents/schema.ts'
import type { Document } from '../../src/stores/ports/read-store.ts'

const AT_ONCE = 1_000

const { declaration } = diamonds

/**
 * `node bare.ts DATA_DIR ID`: the upper limit for a rebuild. Reads and parses every event of the log and inserts one
 * document per event, with the size of stone ID's document and the same indexes, but without counting, folding or
 * checking. Prints the number of events and the seconds.
 */
async function main(dataDir: string, id: number): Promise<void> {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const sample = await documentOf(dataDir, id)
  const folder = mkdtempSync(join(tmpdir(), 'adamant-bench-'))
  const log = new Database(join(dataDir, 'events.db'), { readonly: true })
  const made = new Database(join(folder, 'made.db'))
  try {
    for (const setting of ['page_size = 8192', 'journal_mode = WAL', 'synchronous = NORMAL']) made.pragma(setting)
    made.exec(schemaOf(declaration))
    const started = performance.now()
    const events = copied(log, made, sample)
    console.log(JSON.stringify({ events, seconds: (performance.now() - started) / 1000 }))
  } finally {
    log.close()
    made.close()
    rmSync(folder, { recursive: true })
  }
}

async function documentOf(dataDir: string, id: number): Promise<Document> {
  const reads = openSqliteReadStore(dataDir)
  try {
    const [found] = await (await reads.live(declaration)).load([id])
    if (found === undefined) throw new Error(`stone ${id} does not exist`)
    return found.document
  } finally {
    await reads.close()
  }
}

type Row = [data: string, metadata: string]

function copied(log: Database.Database, made: Database.Database, sample: Document): number {
  const columns = ['id', 'revision', ...valueColumns(declaration)]
  const insert = made.prepare(
    `INSERT INTO documents (${columns.map((name) => `"${name}"`).join()}) VALUES (${columns.map((name) => `:${name}`).join()})`,
  )
  const write = made.transaction((rows: readonly Row[], first: number) => {
    for (const [index, [data, metadata]] of rows.entries()) {
      const id = first + index
      const event = { data: JSON.parse(data) as unknown, metadata: JSON.parse(metadata) as unknown }
      if (event.data === null) throw new Error(`event ${id} is empty`)
      insert.run({ ...sample, id, date: id, changed: id, revision: id })
    }
  })
  let events = 0
  let rows: Row[] = []
  const read = log.prepare<[], Row>('SELECT data, metadata FROM events ORDER BY position').raw()
  for (const row of read.iterate()) {
    rows.push(row)
    if (rows.length < AT_ONCE) continue
    write(rows, events)
    events += rows.length
    rows = []
  }
  write(rows, events)
  return events + rows.length
}

const [dataDir = '', id = ''] = process.argv.slice(2)
await main(dataDir, Number(id))
