import type Database from 'better-sqlite3'
import type { Turn } from '../turn.ts'

/** Something read from a file and kept until the file changes. */
export type Kept<Value> = {
  now(): Value
  /** After a change by this connection, which SQLite does not count as one. */
  forget(): void
}

/** Reads again when another connection has changed the file: SQLite is asked once a turn. */
export function kept<Value extends object>(db: Database.Database, turn: Turn, read: () => Value): Kept<Value> {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  let askedIn = -1
  let version: number | undefined
  let value: Value | undefined

  /** The version is taken before the value: a change between the two is seen at the next asking. */
  function ask(): void {
    const current = dataVersion.get()
    if (current !== version) value = undefined
    version = current
  }

  return {
    now() {
      const current = turn()
      if (current !== askedIn) ask()
      askedIn = current
      value ??= read()
      return value
    },
    forget: () => (value = undefined),
  }
}
