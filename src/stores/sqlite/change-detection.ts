import type Database from 'better-sqlite3'

/** Numbers the turns of the event loop; asking costs nothing until the turn is over. */
export type TurnCounter = () => number

/**
 * What another process did can only be told by a message, and messages are taken between turns: whoever has asked SQLite
 * for changes in a turn (2 us) need not ask again in it. A turn is one callback of Node's, not one round of its loop: in a round
 * that is asked early, by a timer or between two pages of a long reading, requests still arrive.
 */
export function countTurns(): TurnCounter {
  let turn = 0
  let ending = false
  const end = () => {
    ending = false
    turn++
  }
  return () => {
    if (!ending) {
      ending = true
      process.nextTick(end)
    }
    return turn
  }
}

/** Something read from a file and kept until the file changes. */
export type CachedRead<Value> = {
  get(): Value
  /** After a change by this connection, which SQLite does not count as one. */
  invalidate(): void
}

/** Reads again when another connection has changed the file: SQLite is asked once a turn. */
export function cacheUntilChanged<Value extends object>(
  db: Database.Database,
  turn: TurnCounter,
  read: () => Value,
): CachedRead<Value> {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  let askedIn = -1
  let version: number | undefined
  let value: Value | undefined

  /** The version is taken before the value: a change between the two is seen at the next asking. */
  function ask(): void {
    const current = dataVersion.get()
    if (current === version) return
    value = undefined
    version = current
  }

  return {
    get() {
      const current = turn()
      if (current !== askedIn) ask()
      askedIn = current
      value ??= read()
      return value
    },
    invalidate: () => (value = undefined),
  }
}
