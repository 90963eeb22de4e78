import type Database from 'better-sqlite3'

/** Returns the number of the current turn of the event loop; cheap to call repeatedly within one turn. */
export type TurnCounter = () => number

/**
 * Limits the check for changes by other connections (2 µs) to once per turn. Changes by other processes can matter only
 * after a message from outside, and messages are received between turns. A turn is one callback, not one iteration of
 * the event loop: within an iteration, after a timer or between two pages of a long read, requests still arrive.
 */
export function countTurns(): TurnCounter {
  let turn = 0
  let isEndScheduled = false
  const endTurn = () => {
    isEndScheduled = false
    turn++
  }
  return () => {
    if (!isEndScheduled) {
      isEndScheduled = true
      process.nextTick(endTurn)
    }
    return turn
  }
}

type CachedRead<Value> = {
  get(): Value
  /** Call it after a change through this connection: `data_version` does not count those. */
  invalidate(): void
}

/** Reads again after another connection has changed the file. Checks `PRAGMA data_version` once per turn. */
export function cacheUntilChanged<Value extends object>(
  db: Database.Database,
  turn: TurnCounter,
  read: () => Value,
): CachedRead<Value> {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  let checkedInTurn = -1
  let version: number | undefined
  let value: Value | undefined

  /** Takes the version before the value is read: a change between the two is noticed by the next check. */
  function checkVersion(): void {
    const current = dataVersion.get()
    if (current === version) return
    value = undefined
    version = current
  }

  return {
    get() {
      const current = turn()
      if (current !== checkedInTurn) checkVersion()
      checkedInTurn = current
      value ??= read()
      return value
    },
    invalidate: () => (value = undefined),
  }
}
