import Database from 'better-sqlite3'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { whenFree } from '../busy.ts'

/** A full disk, a failing or read-only one, a lock held too long: they pass, and nothing was changed. */
const PASSING = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|NOMEM)/

/** @throws StoreUnavailable in place of SQLite's errors that pass */
export function available<Answer>(action: () => Answer): Answer {
  try {
    return action()
  } catch (error) {
    if (error instanceof Database.SqliteError && PASSING.test(error.code))
      throw new StoreUnavailable(`the read models can't be used now: ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * Does something that writes, and waits where another program holds the file's lock.
 * @param action changes nothing where it throws
 * @throws StoreUnavailable in place of SQLite's errors that pass
 */
export const whenWritable = <Answer>(action: () => Answer): Promise<Answer> => whenFree(() => available(action))
