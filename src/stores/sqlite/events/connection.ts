import Database from 'better-sqlite3'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { LOG_STREAM } from '../../../domain/installation/read-only-state.ts'
import { createLogCreatedEvent } from '../../log/event-store.ts'
import { uuidToBytes } from '../../log/event-serialization.ts'
import {
  BUSY_TIMEOUT_MS,
  requirePragma,
  createOrMigrate,
  prepareTransactionStatements,
  prepareWalCount,
  type SqliteFileFormat,
  type DatabaseFile,
} from '../database-file.ts'
import type { SqliteEventRow } from './rows.ts'

/**
 * The position is the rowid, assigned consecutively by the writer, so there are no gaps and a page of the log is a
 * range of positions. UNIQUE (stream, revision) enforces optimistic concurrency.
 */
const TABLE = `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id BLOB NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
)`

const createTable = (db: Database.Database) => void db.exec(TABLE)

/** The first event, LogCreated, assigns the log's identity. */
function createLog(db: Database.Database): void {
  createTable(db)
  const { id, type, data, metadata } = createLogCreatedEvent()
  db.prepare('INSERT INTO events VALUES (1, ?, 0, ?, ?, ?, ?)').run(
    LOG_STREAM,
    uuidToBytes(id),
    type,
    JSON.stringify(data),
    JSON.stringify(metadata),
  )
}

/** `AdEv` in ASCII. */
export const eventLogFormat: SqliteFileFormat = {
  name: 'event log',
  applicationId: 0x41644576,
  migrations: [createLog],
}

/** A log that receives another log's events, including that log's LogCreated. */
export const copiedLogFormat: SqliteFileFormat = { ...eventLogFormat, migrations: [createTable] }

export const LOG_DAMAGE_REMEDY = 'stop the service, and run `adamant restore FROM --replace` with the newest backup'

/** False also for a missing file. SQLite deletes the WAL of a file without content when it opens it. */
export const hasContent = (file: string): boolean => existsSync(file) && statSync(file).size > 0

/**
 * Whether opening this file would create a log: it is missing, without content, or a database without tables, as a young
 * log is whose tables were only in a lost WAL. False for a damaged file.
 */
export const isMissingOrEmptyLog = (file: string): boolean =>
  !hasContent(file) || (!hasContent(`${file}-wal`) && isDatabaseWithoutTables(file))

/** https://sqlite.org/fileformat2.html#the_database_header: the schema format number is 0 until there is a schema. */
const HEADER = { magic: 'SQLite format 3\0', schemaFormatOffset: 44, bytes: 100 } as const

function isDatabaseWithoutTables(file: string): boolean {
  const header = Buffer.alloc(HEADER.bytes)
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    readSync(descriptor, header, 0, HEADER.bytes, 0)
  } catch {
    // An unreadable file is reported when SQLite opens it.
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
  return header.toString('latin1').startsWith(HEADER.magic) && header.readUInt32BE(HEADER.schemaFormatOffset) === 0
}

/** Milliseconds to wait for another process that is creating or migrating the file. */
const OPENING_TIMEOUT = 10_000

export type EventLogConnection = ReturnType<typeof connect>

export type EventLogFile = DatabaseFile<EventLogConnection>

/**
 * Opens the log so that every commit is synced to disk before it is acknowledged.
 * @throws UnreadableFile, StoreUnavailable
 */
export function connect(file: string, format: SqliteFileFormat) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    requirePragma(db, 'journal_mode', 'WAL', 'wal')
    // Reopening a WAL file may reset this to NORMAL, which can lose acknowledged commits on power failure.
    requirePragma(db, 'synchronous', 'FULL', 2)
    createOrMigrate(db, format)
    // The checkpointer runs checkpoints; inside a commit they would block the event loop.
    requirePragma(db, 'wal_autocheckpoint', '0', 0)
    db.pragma('cache_size = -8192')
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return { db, close: () => void db.close(), ...prepareTransactionStatements(db), ...statements(db) }
  } catch (error) {
    db.close()
    throw error
  }
}

function statements(db: Database.Database) {
  return {
    savepoint: db.prepare<[]>('SAVEPOINT one'),
    release: db.prepare<[]>('RELEASE one'),
    undo: db.prepare<[]>('ROLLBACK TO one'),
    insertFirst: db.prepare<SqliteEventRow>(
      'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream, revision) DO NOTHING',
    ),
    insertAfter: db.prepare<[...SqliteEventRow, stream: string, before: number]>(
      `INSERT INTO events SELECT ?, ?, ?, ?, ?, ?, ?
       WHERE EXISTS (SELECT 1 FROM events WHERE stream = ? AND revision = ?)
       ON CONFLICT (stream, revision) DO NOTHING`,
    ),
    insert: db.prepare<SqliteEventRow>('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)'),
    countWalPages: prepareWalCount(db),
    lastPosition: db.prepare<[], number>('SELECT max(position) FROM events').pluck(),
    lastRevision: db.prepare<[string], number | null>('SELECT max(revision) FROM events WHERE stream = ?').pluck(),
    stored: db
      .prepare<[string, number, number], [number, Buffer]>(
        'SELECT position, id FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision',
      )
      .raw(),
    stream: db.prepare<[string], SqliteEventRow>('SELECT * FROM events WHERE stream = ? ORDER BY revision').raw(),
    newest: db
      .prepare<[string, number], SqliteEventRow>('SELECT * FROM events WHERE stream = ? ORDER BY revision DESC LIMIT ?')
      .raw(),
    page: pages(db),
    dataVersion: db.prepare<[], number>('PRAGMA data_version').pluck(),
  }
}

/** Reads the events after `from` up to and including `to`; with prefixes, only those whose stream starts with one of them. */
function pages(db: Database.Database): (from: number, to: number, prefixes?: readonly string[]) => SqliteEventRow[] {
  const range = 'SELECT * FROM events WHERE position > ? AND position <= ?'
  const prepare = (condition: string) =>
    db.prepare<unknown[], SqliteEventRow>(`${range} ${condition} ORDER BY position`).raw()
  const all = prepare('')
  const filtered = new Map<number, typeof all>()
  return (from, to, prefixes) => {
    if (prefixes === undefined) return all.all(from, to)
    let statement = filtered.get(prefixes.length)
    if (statement === undefined) {
      const tests = prefixes.map(() => 'substr(stream, 1, length(?)) = ?')
      statement = prepare(`AND (${tests.join(' OR ') || 'false'})`)
      filtered.set(prefixes.length, statement)
    }
    return statement.all(from, to, ...prefixes.flatMap((prefix) => [prefix, prefix]))
  }
}
