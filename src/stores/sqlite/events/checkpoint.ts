import type Database from 'better-sqlite3'

/** `keep-up` never waits for anyone; `restart` makes writers start the WAL over; `empty` gives its room back. */
export type CheckpointMode = 'keep-up' | 'restart' | 'empty'

const PRAGMAS: Record<CheckpointMode, string> = {
  'keep-up': 'wal_checkpoint(PASSIVE)',
  restart: 'wal_checkpoint(RESTART)',
  empty: 'wal_checkpoint(TRUNCATE)',
}

/** `busy`: others kept it from being done whole. `pages`: what the WAL has. */
export type CheckpointState = { readonly busy: boolean; readonly pages: number }

/** Moves what the WAL holds into the file. */
export function checkpoint(db: Database.Database, mode: CheckpointMode): CheckpointState {
  const [row] = db.prepare<[], [busy: number, pages: number, moved: number]>(`PRAGMA ${PRAGMAS[mode]}`).raw().all()
  return { busy: row?.[0] !== 0, pages: row?.[1] ?? 0 }
}
