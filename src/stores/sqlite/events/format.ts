import type Database from 'better-sqlite3'
import { LOG_STREAM } from '../../../domain/installation/moving.ts'
import { logCreated } from '../../log/identity.ts'
import type { FileFormat } from '../file.ts'
import { uuidBytes } from '../../uuid.ts'

/**
 * Positions are the rowid, given out by the writer one by one, so that they have no gaps and a page of the log is a
 * range of them. UNIQUE(stream, revision) is what decides between two writers.
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

/** The first event gives the log its identity: a checkpoint of another log is worth nothing. */
function createLog(db: Database.Database): void {
  createTable(db)
  const { id, type, data, metadata } = logCreated()
  db.prepare('INSERT INTO events VALUES (1, ?, 0, ?, ?, ?, ?)').run(
    LOG_STREAM,
    uuidBytes(id),
    type,
    JSON.stringify(data),
    JSON.stringify(metadata),
  )
}

/** `AdEv` in ASCII. */
export const eventLogFormat: FileFormat = { name: 'event log', applicationId: 0x41644576, versions: [createLog] }

/** A log that another one's events are copied into, its LogCreated among them. */
export const filledLogFormat: FileFormat = { ...eventLogFormat, versions: [createTable] }
