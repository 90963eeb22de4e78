import Database from 'better-sqlite3'
import { parentPort, workerData } from 'node:worker_threads'
import { BUSY } from './shred-answer.ts'

/** Milliseconds that emptying the WAL waits for writers and readers of other connections. */
const LOCK_TIMEOUT = 1_000

const db = new Database(String(workerData), { fileMustExist: true, timeout: LOCK_TIMEOUT })
db.pragma('synchronous = FULL')
const empty = db.prepare<[], [busy: number, pages: number, moved: number]>('PRAGMA wal_checkpoint(TRUNCATE)').raw()

/** Each message asks for the WAL to be emptied, each answer says why it was not, or nothing. */
parentPort?.on('message', () => parentPort?.postMessage(outcome()))

function outcome(): string {
  try {
    return empty.get()?.[0] === 0 ? '' : BUSY
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return BUSY
    return error instanceof Error ? error.message : String(error)
  }
}
