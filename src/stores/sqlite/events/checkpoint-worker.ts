import Database from 'better-sqlite3'
import { parentPort, workerData } from 'node:worker_threads'
import { checkpoint } from './checkpoint.ts'

/** Milliseconds that a checkpoint waits for the write lock, and then, holding it, for readers. */
const LOCK_TIMEOUT = 100
/** Above so many pages (64 MB) the WAL is started over: while others write, keeping up alone never ends it. */
const RESTART_PAGES = 16_384
/** The write lock is taken in a race with writers that leave it for a moment only. */
const RESTART_ATTEMPTS = 10

const db = new Database(String(workerData), { fileMustExist: true, timeout: LOCK_TIMEOUT })

function keepShort(): void {
  let state = checkpoint(db, 'keep-up')
  for (let attempt = 1; state.pages > RESTART_PAGES && attempt <= RESTART_ATTEMPTS; attempt++) {
    state = checkpoint(db, 'restart')
    if (!state.busy) return
  }
}

/** Each message asks for a checkpoint, each answer says why it failed, or nothing: done or not, the next one goes on. */
parentPort?.on('message', () => parentPort?.postMessage(failure()))

/** Out of room, or the file fails: the WAL keeps everything until a later checkpoint succeeds. */
function failure(): string {
  try {
    keepShort()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
