import type Database from 'better-sqlite3'
import type { From } from '../event-store.ts'
import type { Build, Document, FieldValue, ModelDeclaration, Stored } from '../read-store.ts'
import { available } from './failure.ts'
import { progressOf } from './progress.ts'
import { queriesOf, type Queries } from './queries.ts'
import { list, valueColumns } from './schema.ts'
import { writesOf } from './writes.ts'

/** A build's file, open: what the runner writes to and what requests read. One connection serves both. */
export type OpenBuild = Build & {
  readonly queries: Queries
  position(): From
  parked(): ReadonlySet<string>
  close(): void
}

export function buildOf(db: Database.Database, declaration: ModelDeclaration, id: string): OpenBuild {
  const progress = progressOf(db)
  const apply = writesOf(db, declaration)
  const seen = lastSeen(db, () => ({
    position: progress.checkpoint()?.position ?? 'start',
    parked: progress.parked(),
  }))
  const change = (action: () => void) => available(() => seen.forgetAfter(() => db.transaction(action).immediate()))
  return {
    id,
    queries: queriesOf(db, declaration),
    position: () => seen.now().position,
    parked: () => seen.now().parked,
    checkpoint: async () => available(progress.checkpoint),
    load: async (keys) => available(() => loadFrom(db, declaration, keys)),
    write: async (writes, checkpoint, letters = []) =>
      change(() => {
        if (!progress.advance(checkpoint)) return
        apply(writes)
        progress.park(letters)
      }),
    deadLetters: async () => available(progress.letters),
    release: async (stream) => change(() => progress.release(stream)),
    close: () => void db.close(),
  }
}

/** Keeps what was read until this connection writes, or SQLite tells that another one did (about 2 us to ask). */
function lastSeen<Value>(db: Database.Database, read: () => Value) {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  let version: number | undefined
  let value: Value | undefined
  return {
    now(): Value {
      const current = dataVersion.get()
      if (value === undefined || current !== version) value = read()
      version = current
      return value
    },
    forgetAfter<Answer>(action: () => Answer): Answer {
      const answer = action()
      value = undefined
      return answer
    },
  }
}

function loadFrom(db: Database.Database, declaration: ModelDeclaration, keys: readonly FieldValue[]): Stored[] {
  const columns = list(['id', ...valueColumns(declaration)])
  const read = db.prepare<[FieldValue], Document & { revision_: number }>(
    `SELECT ${columns}, revision AS revision_ FROM documents WHERE id = ?`,
  )
  return keys.flatMap((key) => {
    const row = read.get(key)
    if (row === undefined) return []
    const { revision_, ...document } = row
    return [{ document, revision: BigInt(revision_) }]
  })
}
