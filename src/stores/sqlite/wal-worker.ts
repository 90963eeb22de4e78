import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { checkpointWal, type WalCheckpointResult, type WalCheckpointTask } from './wal.ts'

/** Milliseconds to wait for the write lock, and then, holding it, for readers. */
const LOCK_TIMEOUTS_MS = { bounded: 100, truncate: 1_000 } as const
/**
 * Pages above which writers must restart the WAL: a passive checkpoint, which never waits, leaves what others write
 * meanwhile, so the WAL would never shrink. 64 MB of the log and 128 MB of a read model.
 */
const LONG_WAL_PAGES = 16_384
/** The write lock is free only briefly between writers, so taking it may need several attempts. */
const ATTEMPTS = 10

/** Every message gets a response, so that the worker pool continues after failures. */
parentPort?.on('message', (work: WalCheckpointTask) => parentPort?.postMessage(runCheckpoint(work)))

function runCheckpoint({ file, mode }: WalCheckpointTask): WalCheckpointResult {
  try {
    // A new connection for each checkpoint: one that stays open would make the file look in use (isOpenSomewhere).
    const db = new Database(file, { fileMustExist: true, timeout: LOCK_TIMEOUTS_MS[mode] })
    try {
      db.pragma('synchronous = FULL')
      return { isBusy: checkpointAndReportBusy(db, mode), failure: '' }
    } finally {
      db.close()
    }
  } catch (error) {
    // The file was deleted meanwhile: nothing to checkpoint.
    if (!existsSync(file)) return { isBusy: false, failure: '' }
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return { isBusy: true, failure: mode === 'truncate' ? '' : error.message }
    return { isBusy: false, failure: error instanceof Error ? error.message : String(error) }
  }
}

function checkpointAndReportBusy(db: Database.Database, mode: WalCheckpointTask['mode']): boolean {
  if (mode === 'truncate') return checkpointWal(db, mode).busy
  let state = checkpointWal(db, 'passive')
  for (let attempt = 1; state.pages > LONG_WAL_PAGES && attempt <= ATTEMPTS; attempt++) {
    state = checkpointWal(db, 'restart')
    if (!state.busy) break
  }
  return state.busy
}
