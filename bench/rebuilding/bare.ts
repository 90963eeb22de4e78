import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { openSqliteReadStore } from '../../src/stores/sqlite/documents.ts'
import { schemaOf, valueColumns } from '../../src/stores/sqlite/documents/schema.ts'
import type { Document } from '../../src/stores/ports/read-store.ts'

const BATCH_SIZE = 1_000

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
  const source = new Database(join(dataDir, 'events.db'), { readonly: true })
  const target = new Database(join(folder, 'made.db'))
  try {
    for (const setting of ['page_size = 8192', 'journal_mode = WAL', 'synchronous = NORMAL']) target.pragma(setting)
    target.exec(schemaOf(declaration))
    const started = performance.now()
    const events = copyEvents(source, target, sample)
    console.log(JSON.stringify({ events, seconds: (performance.now() - started) / 1000 }))
  } finally {
    source.close()
    target.close()
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

type EventRow = [data: string, metadata: string]

function copyEvents(source: Database.Database, target: Database.Database, sample: Document): number {
  const columns = ['id', 'revision', ...valueColumns(declaration)]
  const insert = target.prepare(
    `INSERT INTO documents (${columns.map((name) => `"${name}"`).join()}) VALUES (${columns.map((name) => `:${name}`).join()})`,
  )
  const write = target.transaction((rows: readonly EventRow[], first: number) => {
    for (const [index, [data, metadata]] of rows.entries()) {
      const id = first + index
      const event = { data: JSON.parse(data) as unknown, metadata: JSON.parse(metadata) as unknown }
      if (event.data === null) throw new Error(`event ${id} is empty`)
      insert.run({ ...sample, id, date: id, changed: id, revision: id })
    }
  })
  let events = 0
  let rows: EventRow[] = []
  const read = source.prepare<[], EventRow>('SELECT data, metadata FROM events ORDER BY position').raw()
  for (const row of read.iterate()) {
    rows.push(row)
    if (rows.length < BATCH_SIZE) continue
    write(rows, events)
    events += rows.length
    rows = []
  }
  write(rows, events)
  return events + rows.length
}

const [dataDir = '', id = ''] = process.argv.slice(2)
await main(dataDir, Number(id))
