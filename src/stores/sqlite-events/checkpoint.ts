import type Database from 'better-sqlite3'

/** `keep-up` never waits for anyone; `restart` makes writers start the WAL over; `empty` gives its room back. */
export type CheckpointMode = 'keep-up' | 'restart' | 'empty'

const PRAGMAS: Record<CheckpointMode, string> = {
  'keep-up': 'wal_checkpoint(PASSIVE)',
  restart: 'wal_checkpoint(RESTART)',
  empty: 'wal_checkpoint(TRUNCATE)',
}

/** Moves what the WAL holds into the file; gives the pages that the WAL has. */
export function checkpoint(db: Database.Database, mode: CheckpointMode): number {
  const [row] = db.prepare<[], [busy: number, log: number, moved: number]>(`PRAGMA ${PRAGMAS[mode]}`).raw().all()
  return row?.[1] ?? 0
}
