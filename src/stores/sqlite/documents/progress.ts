import type Database from 'better-sqlite3'
import type { From } from '../../ports/event-store.ts'
import { comparePositions } from '../../ports/event-store.ts'
import type { Checkpoint, DeadLetter } from '../../ports/read-store.ts'

/** What a build knows of the log: how far it has folded it, and which streams it could not fold. */
export type Progress = {
  checkpoint(): Checkpoint | undefined
  /** False, and nothing is changed, where the build is already past `checkpoint`. Call it inside a transaction. */
  advance(checkpoint: Checkpoint): boolean
  deadLetters(): DeadLetter[]
  park(deadLetters: readonly DeadLetter[]): void
  release(stream: string): void
  parked(): ReadonlySet<string>
}

type CheckpointRow = {
  commit: string | null
  prepare: string | null
  log: string
  event: string | null
  event_commit: string | null
  event_prepare: string | null
}
type LetterRow = Omit<DeadLetter, 'position' | 'revision'> & { revision: number; commit: string; prepare: string }

export function progressOf(db: Database.Database): Progress {
  const read = db.prepare<[], CheckpointRow>('SELECT * FROM checkpoint')
  const write = db.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?, ?, ?)')
  const letters = db.prepare<[], LetterRow>('SELECT * FROM dead_letters')
  const park = db.prepare('INSERT OR IGNORE INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?)')
  const release = db.prepare('DELETE FROM dead_letters WHERE stream = ?')
  const streams = db.prepare<[], string>('SELECT DISTINCT stream FROM dead_letters').pluck()
  const checkpoint = () => checkpointOf(read.get())
  return {
    checkpoint,
    advance(next) {
      const stored = checkpoint()
      if (stored !== undefined && stored.log !== next.log)
        throw new Error(`this build holds documents of the log ${stored.log}, not of ${next.log}: rebuild it`)
      if (stored !== undefined && comparePositions(next.position, stored.position) < 0) return false
      const [commit, prepare] = next.position === 'start' ? [null, null] : numbersOf(next.position)
      const event = next.event === null ? [null, null, null] : [next.event.id, ...numbersOf(next.event.position)]
      write.run(commit, prepare, next.log, ...event)
      return true
    },
    deadLetters: () =>
      letters
        .all()
        .map(letterOf)
        .sort((a, b) => comparePositions(a.position, b.position)),
    park(added) {
      for (const { stream, revision, position, event, type, reason } of added)
        park.run(stream, revision, ...numbersOf(position), event, type, reason)
    },
    release: (stream) => void release.run(stream),
    parked: () => new Set(streams.all()),
  }
}

const numbersOf = (position: Exclude<From, 'start'>) => [String(position.commit), String(position.prepare)] as const

function checkpointOf(row: CheckpointRow | undefined): Checkpoint | undefined {
  if (row === undefined) return undefined
  const place = positionOf(row.event_commit, row.event_prepare)
  const event = row.event === null || place === 'start' ? null : { id: row.event, position: place }
  return { position: positionOf(row.commit, row.prepare), log: row.log, event }
}

const positionOf = (commit: string | null, prepare: string | null): From =>
  commit === null || prepare === null ? 'start' : { commit: BigInt(commit), prepare: BigInt(prepare) }

function letterOf({ commit, prepare, revision, ...rest }: LetterRow): DeadLetter {
  return { ...rest, revision: BigInt(revision), position: { commit: BigInt(commit), prepare: BigInt(prepare) } }
}
