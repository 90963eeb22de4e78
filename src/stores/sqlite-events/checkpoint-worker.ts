import Database from 'better-sqlite3'
import { parentPort, workerData } from 'node:worker_threads'
import { checkpoint, type CheckpointMode } from './checkpoint.ts'

/** Milliseconds that a checkpoint may hold the write lock while it waits for readers. */
const READER_TIMEOUT = 20
/** Above so many pages (64 MB) the WAL is started over: while others write, keeping up alone never ends it. */
const RESTART_PAGES = 16_384

const db = new Database(String(workerData), { fileMustExist: true, timeout: READER_TIMEOUT })

/** Each message is a mode, each answer says that the checkpoint is over, done or not: the next one goes on. */
parentPort?.on('message', (mode: CheckpointMode) => {
  try {
    const pages = checkpoint(db, mode)
    if (pages > RESTART_PAGES) checkpoint(db, 'restart')
  } catch {
    // Busy or out of room: the WAL keeps everything until a later one succeeds.
  }
  parentPort?.postMessage('done')
})
