import Database from 'better-sqlite3'
import { parentPort, workerData } from 'node:worker_threads'

/** Milliseconds that emptying the WAL waits for writers and readers of other connections. */
const LOCK_TIMEOUT = 1_000

const db = new Database(String(workerData), { fileMustExist: true, timeout: LOCK_TIMEOUT })
db.pragma('synchronous = FULL')
const empty = db.prepare<[], [busy: number, pages: number, moved: number]>('PRAGMA wal_checkpoint(TRUNCATE)').raw()

/** Each message asks for the WAL to be emptied, each answer says whether it was. */
parentPort?.on('message', () => {
  let done = false
  try {
    done = empty.get()?.[0] === 0
  } catch {
    // Others hold it, or the disk is full: the next time.
  }
  parentPort?.postMessage(done)
})
