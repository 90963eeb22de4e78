import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { checkpointWal, type WalCheckpointResult, type WalCheckpointTask } from './wal.ts'

/** Milliseconds that each waits for the write lock, and then, holding it, for readers. */
const LOCK_TIMEOUTS_MS = { 'keep up': 0, 'keep short': 100, empty: 1_000 } as const
/** Above so many pages (64 MB) the WAL is started over: while others write, keeping up alone never ends it. */
const LONG = 16_384
/** The write lock is taken in a race with writers that leave it for a moment only. */
const ATTEMPTS = 10

/** Each message is answered: done or not, the next one goes on. */
parentPort?.on('message', (work: WalCheckpointTask) => parentPort?.postMessage(outcomeOf(work)))

function outcomeOf({ file, mode }: WalCheckpointTask): WalCheckpointResult {
  try {
    // One of its own for each: a connection that stays open would keep a file from being known as nobody's.
    const db = new Database(file, { fileMustExist: true, timeout: LOCK_TIMEOUTS_MS[mode] })
    try {
      db.pragma('synchronous = FULL')
      return { isBusy: checkpointAndReportBusy(db, mode), failure: '' }
    } finally {
      db.close()
    }
  } catch (error) {
    // A file that was removed meanwhile has nothing left to move.
    if (!existsSync(file)) return { isBusy: false, failure: '' }
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return { isBusy: true, failure: mode === 'empty' ? '' : error.message }
    return { isBusy: false, failure: error instanceof Error ? error.message : String(error) }
  }
}

function checkpointAndReportBusy(db: Database.Database, mode: WalCheckpointTask['mode']): boolean {
  if (mode !== 'keep short') return checkpointWal(db, mode).busy
  let state = checkpointWal(db, 'keep up')
  for (let attempt = 1; state.pages > LONG && attempt <= ATTEMPTS; attempt++) {
    state = checkpointWal(db, 'restart')
    if (!state.busy) break
  }
  return state.busy
}
