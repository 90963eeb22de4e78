import Database from 'better-sqlite3'
import { parentPort } from 'node:worker_threads'
import { checkpoint } from '../sqlite-events/checkpoint.ts'

/** Each message is a file, each answer says that its checkpoint is over, done or not: the next one goes on. */
parentPort?.on('message', (path: string) => {
  try {
    const db = new Database(path, { fileMustExist: true, timeout: 0 })
    try {
      checkpoint(db, 'keep-up')
    } finally {
      db.close()
    }
  } catch {
    // Removed, busy or out of room: the WAL keeps everything until a later one succeeds.
  }
  parentPort?.postMessage(path)
})
