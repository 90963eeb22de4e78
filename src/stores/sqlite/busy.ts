import Database from 'better-sqlite3'
import { StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that one statement may hold the event loop for another program's lock. */
export const BUSY_TIMEOUT = 5

/** Milliseconds that a change waits for other programs' locks before it is refused. */
export const BUSY_DEADLINE = 5_000

const SHORTEST = 1
const LONGEST = 32

/** Milliseconds until the next try: soon where a transaction of this service holds the lock, seldom where another program does. */
export const pauseAfter = (tries: number): number => Math.min(LONGEST, SHORTEST * 2 ** Math.min(tries - 1, 10))

/** True of a change that another program's lock kept from being made. */
export const isBusy = (error: unknown): boolean =>
  error instanceof StoreUnavailable &&
  error.cause instanceof Database.SqliteError &&
  error.cause.code.startsWith('SQLITE_BUSY')

/**
 * Does something that writes to a file, again and again while another program holds the file's lock; the event loop goes
 * on between the tries.
 * @param action changes nothing where it throws
 * @throws StoreUnavailable where the lock was held for too long; else what the action throws
 */
export async function whenFree<Answer>(action: () => Answer, deadline = BUSY_DEADLINE): Promise<Answer> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() - started >= deadline) throw error
    }
    await new Promise((over) => setTimeout(over, pauseAfter(tries)))
  }
}
