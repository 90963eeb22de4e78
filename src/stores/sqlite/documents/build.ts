import type Database from 'better-sqlite3'
import { comparePositions, type From } from '../../ports/event-store.ts'
import {
  SEQUENCES,
  type Build,
  type Checkpoint,
  type DeadLetter,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type Stored,
  type Table,
} from '../../ports/read-store.ts'
import { kept, type Turn } from '../changes.ts'
import { transactions } from '../file.ts'
import { available, whenWritable } from './file.ts'
import { queriesOf, type Queries } from './queries.ts'
import { list, otherFields, valueColumns, type TableName } from './schema.ts'
import { writesOf } from './writes.ts'

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

function progressOf(db: Database.Database): Progress {
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

/** A build's file, open: what the runner writes to and what requests read. One connection serves both. */
export type OpenBuild = Build & {
  readonly queries: Queries
  sequencesOf(ids: readonly number[]): readonly Document[]
  position(): From
  parked(): ReadonlySet<string>
  close(): void
}

/** @param written told how many documents each transaction wrote */
export function buildOf(
  id: string,
  db: Database.Database,
  declaration: ModelDeclaration,
  turn: Turn,
  written: (documents: number) => void,
): OpenBuild {
  const progress = progressOf(db)
  const documents = tableOf(db, declaration, 'documents')
  const sequences = tableOf(db, SEQUENCES, 'sequences')
  const apply = writesOf(db, declaration, 'documents')
  /** Made when it is needed: most models keep no sequences, and files of earlier releases have no table of them. */
  let applySequences: typeof apply | undefined
  const transact = transactionsOf(db)
  const standing = () => ({ position: progress.checkpoint()?.position ?? 'start', parked: progress.parked() })
  const known = kept(db, turn, standing)

  const change = (rows: number, action: () => void): Promise<void> =>
    whenWritable(() => {
      transact(action)
      known.forget()
      written(rows)
    })

  return {
    id,
    queries: queriesOf(db, declaration),
    position: () => known.now().position,
    parked: () => known.now().parked,
    checkpoint: async () => available(progress.checkpoint),
    ...asTable(documents),
    sequences: asTable(sequences),
    sequencesOf: (ids) => sequences.load(ids).map(({ document }) => document),
    write: async (writes, checkpoint, deadLetters = [], sequenced = []) =>
      change(writes.length + sequenced.length, () => {
        if (!progress.advance(checkpoint)) return
        apply(writes)
        if (sequenced.length > 0) (applySequences ??= writesOf(db, SEQUENCES, 'sequences'))(sequenced)
        progress.park(deadLetters)
      }),
    deadLetters: async () => available(progress.deadLetters),
    release: async (stream) => change(0, () => progress.release(stream)),
    close: () => void db.close(),
  }
}

function transactionsOf(db: Database.Database): (action: () => void) => void {
  const { begin, commit, rollback } = transactions(db)
  return (action) => {
    begin.run()
    try {
      action()
      commit.run()
    } catch (error) {
      if (db.inTransaction) rollback.run()
      throw error
    }
  }
}

const asTable = ({ load, walk }: OpenTable): Table => ({ load: async (keys) => load(keys), walk })

/** A table of a build, read at once. */
type OpenTable = Pick<Table, 'walk'> & {
  load(this: void, keys: readonly FieldValue[]): Stored[]
}

function tableOf(db: Database.Database, declaration: ModelDeclaration, table: TableName): OpenTable {
  let read: ((key: FieldValue) => Stored[]) | undefined
  const reader = () => (read ??= documentReader(db, table, ['id', ...valueColumns(declaration)]))

  return {
    load: (keys) => available(() => keys.flatMap(reader())),
    walk: walker(db, declaration, table),
  }
}

type Row = [revision: number, ...values: FieldValue[]]

/** Gives one document, or none. */
function documentReader(
  db: Database.Database,
  table: TableName,
  columns: readonly string[],
): (key: FieldValue) => Stored[] {
  const read = db
    .prepare<[FieldValue], Row>(`SELECT ${list(['revision', ...columns])} FROM ${table} WHERE id = ?`)
    .raw()
  return (key) => {
    const row = read.get(key)
    return row === undefined ? [] : [storedIn(row, columns)]
  }
}

function storedIn([revision, ...values]: Row, columns: readonly string[]): Stored {
  const document: Record<string, FieldValue> = {}
  for (const [index, value] of values.entries()) document[columns[index] ?? ''] = value
  return { document, revision: BigInt(revision) }
}

/** Documents that are read together: each page is a read of its own, so that no reader keeps the WAL from being emptied. */
const PAGE = 500

function walker(db: Database.Database, declaration: ModelDeclaration, table: TableName): Table['walk'] {
  return async function* walk(texts = declaration.texts) {
    const columns = ['id', ...otherFields(declaration), ...texts]
    const page = (where: string) =>
      db
        .prepare<FieldValue[], Row>(
          `SELECT ${list(['revision', ...columns])} FROM ${table} ${where} ORDER BY id LIMIT ${PAGE}`,
        )
        .raw()
    const first = page('')
    const next = page('WHERE id > ?')
    let rows = available(() => first.all())
    while (rows.length > 0) {
      yield rows.map((row) => storedIn(row, columns))
      const behind = rows.at(-1)?.[1] ?? ''
      rows = rows.length < PAGE ? [] : available(() => next.all(behind))
    }
  }
}
