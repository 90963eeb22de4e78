import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { checkpoint } from '../events/checkpoint.ts'

/** Each message is a file, each answer says why its checkpoint failed, or nothing: done or not, the next one goes on. */
parentPort?.on('message', (path: string) => parentPort?.postMessage(failureOf(path)))

/** The WAL keeps everything until a later checkpoint succeeds. */
function failureOf(path: string): string {
  try {
    const db = new Database(path, { fileMustExist: true, timeout: 0 })
    try {
      checkpoint(db, 'keep-up')
    } finally {
      db.close()
    }
    return ''
  } catch (error) {
    // A build that was removed meanwhile has nothing left to move.
    if (!existsSync(path)) return ''
    return error instanceof Error ? error.message : String(error)
  }
}
