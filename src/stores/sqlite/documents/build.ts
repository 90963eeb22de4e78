import type Database from 'better-sqlite3'
import { comparePositions, type PositionOrStart } from '../../ports/event-store.ts'
import {
  SEQUENCES_DECLARATION,
  type ReadModelBuild,
  type Checkpoint,
  type DeadLetter,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type StoredDocument,
  type DocumentTable,
} from '../../ports/read-store.ts'
import { cacheUntilChanged, type TurnCounter } from '../change-detection.ts'
import { inPages } from '../../pages.ts'
import { retryWrite } from './read-model-file.ts'
import { queriesOf, type SqliteQueries } from './queries.ts'
import { quoteIdentifiers, nonKeyFields, valueColumns, type TableName } from './schema.ts'
import { writesOf } from './writes.ts'

type SqliteBuildProgress = {
  checkpoint(): Checkpoint | undefined
  /** Returns false, without a change, if the build is already past `checkpoint`. Call it inside a transaction. */
  advance(checkpoint: Checkpoint): boolean
  deadLetters(): DeadLetter[]
  park(deadLetters: readonly DeadLetter[]): void
  unpark(stream: string): void
  parkedStreams(): ReadonlySet<string>
}

type CheckpointRow = {
  commit: string | null
  prepare: string | null
  log: string
  event: string | null
  event_commit: string | null
  event_prepare: string | null
}
type DeadLetterRow = Omit<DeadLetter, 'position' | 'revision'> & { revision: number; commit: string; prepare: string }

function progressOf(db: Database.Database): SqliteBuildProgress {
  const read = db.prepare<[], CheckpointRow>('SELECT * FROM checkpoint')
  const write = db.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?, ?, ?)')
  const letters = db.prepare<[], DeadLetterRow>('SELECT * FROM dead_letters')
  const park = db.prepare('INSERT OR IGNORE INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?)')
  const release = db.prepare('DELETE FROM dead_letters WHERE stream = ?')
  const streams = db.prepare<[], string>('SELECT DISTINCT stream FROM dead_letters').pluck()
  const checkpoint = () => checkpointOf(read.get())
  return {
    checkpoint,
    advance(next) {
      const stored = checkpoint()
      if (stored !== undefined && stored.log !== next.log)
        throw new Error(`this build belongs to log ${stored.log}, not to ${next.log}: rebuild the read model`)
      if (stored !== undefined && comparePositions(next.position, stored.position) < 0) return false
      const [commit, prepare] = next.position === 'start' ? [null, null] : numbersOf(next.position)
      const event = next.event === null ? [null, null, null] : [next.event.id, ...numbersOf(next.event.position)]
      write.run(commit, prepare, next.log, ...event)
      return true
    },
    deadLetters: () =>
      letters
        .all()
        .map(decodeDeadLetter)
        .sort((a, b) => comparePositions(a.position, b.position)),
    park(added) {
      for (const { stream, revision, position, event, type, reason } of added)
        park.run(stream, revision, ...numbersOf(position), event, type, reason)
    },
    unpark: (stream) => void release.run(stream),
    parkedStreams: () => new Set(streams.all()),
  }
}

const numbersOf = (position: Exclude<PositionOrStart, 'start'>) =>
  [String(position.commit), String(position.prepare)] as const

function checkpointOf(row: CheckpointRow | undefined): Checkpoint | undefined {
  if (row === undefined) return undefined
  const eventPosition = positionOf(row.event_commit, row.event_prepare)
  const event = row.event === null || eventPosition === 'start' ? null : { id: row.event, position: eventPosition }
  return { position: positionOf(row.commit, row.prepare), log: row.log, event }
}

const positionOf = (commit: string | null, prepare: string | null): PositionOrStart =>
  commit === null || prepare === null ? 'start' : { commit: BigInt(commit), prepare: BigInt(prepare) }

function decodeDeadLetter({ commit, prepare, revision, ...rest }: DeadLetterRow): DeadLetter {
  return { ...rest, revision: BigInt(revision), position: { commit: BigInt(commit), prepare: BigInt(prepare) } }
}

/** An open build file. One connection serves the projection's writes and the requests' reads. */
export type SqliteBuild = ReadModelBuild & {
  readonly queries: SqliteQueries
  loadSequences(ids: readonly number[]): readonly Document[]
  position(): PositionOrStart
  parkedStreams(): ReadonlySet<string>
  close(): void
}

export type SqliteBuildOptions = {
  readonly turn: TurnCounter
  /** Called after each transaction. */
  readonly onCommitted: () => void
  /**
   * Called in every transaction.
   * @throws ReadModelLost if the file is missing: what is written to the open file would be lost; StoreUnavailable if
   * another process has taken over the lease
   */
  readonly requireWritable: () => void
  readonly guard: FileGuard
}

/** Runs an action on a build's file. @throws StoreUnavailable or ReadModelLost in place of an error of SQLite */
type FileGuard = <Answer>(action: () => Answer) => Answer

export function createBuild(
  id: string,
  db: Database.Database,
  declaration: ModelDeclaration,
  { turn, onCommitted, requireWritable, guard }: SqliteBuildOptions,
): SqliteBuild {
  const progress = progressOf(db)
  const documents = tableOf(db, declaration, 'documents', guard)
  const sequences = tableOf(db, SEQUENCES_DECLARATION, 'sequences', guard)
  const apply = writesOf(db, declaration, 'documents')
  /** Created on first use: most models have no sequences, and files of earlier releases have no table for them. */
  let applySequences: typeof apply | undefined
  const transact = db.transaction((action: () => void) => action()).immediate
  const readProgress = () => ({
    position: progress.checkpoint()?.position ?? 'start',
    parked: progress.parkedStreams(),
  })
  const cachedProgress = cacheUntilChanged(db, turn, readProgress)

  const change = (action: () => void): Promise<void> =>
    retryWrite(() =>
      guard(() => {
        transact(() => {
          requireWritable()
          action()
        })
        cachedProgress.invalidate()
        onCommitted()
      }),
    )
  const queries = queriesOf(db, declaration)

  return {
    id,
    queries: {
      get: (key, select) => guard(() => queries.get(key, select)),
      find: (query) => guard(() => queries.find(query)),
      count: (where, countLimit) => guard(() => queries.count(where, countLimit)),
      counts: (where) => guard(() => queries.counts(where)),
    },
    position: () => guard(() => cachedProgress.get().position),
    parkedStreams: () => guard(() => cachedProgress.get().parked),
    checkpoint: async () => guard(progress.checkpoint),
    ...asTable(documents),
    sequences: asTable(sequences),
    loadSequences: (ids) => sequences.load(ids).map(({ document }) => document),
    write: async (writes, checkpoint, deadLetters = [], sequenceWrites = []) =>
      change(() => {
        if (!progress.advance(checkpoint)) return
        apply(writes)
        if (sequenceWrites.length > 0)
          (applySequences ??= writesOf(db, SEQUENCES_DECLARATION, 'sequences'))(sequenceWrites)
        progress.park(deadLetters)
      }),
    deadLetters: async () => guard(progress.deadLetters),
    unpark: async (stream) => change(() => progress.unpark(stream)),
    close: () => void db.close(),
  }
}

const asTable = ({ load, scan }: SyncDocumentTable): DocumentTable => ({ load: async (keys) => load(keys), scan })

type SyncDocumentTable = Pick<DocumentTable, 'scan'> & {
  load(this: void, keys: readonly FieldValue[]): StoredDocument[]
}

function tableOf(
  db: Database.Database,
  declaration: ModelDeclaration,
  table: TableName,
  guard: FileGuard,
): SyncDocumentTable {
  let read: ((key: FieldValue) => StoredDocument[]) | undefined
  const reader = () => (read ??= documentReader(db, table, ['id', ...valueColumns(declaration)]))

  return {
    load: (keys) => guard(() => keys.flatMap(reader())),
    scan: createScan(db, declaration, table, guard),
  }
}

type DocumentRow = [revision: number, ...values: FieldValue[]]

function documentReader(
  db: Database.Database,
  table: TableName,
  columns: readonly string[],
): (key: FieldValue) => StoredDocument[] {
  const read = db
    .prepare<[FieldValue], DocumentRow>(
      `SELECT ${quoteIdentifiers(['revision', ...columns])} FROM ${table} WHERE id = ?`,
    )
    .raw()
  return (key) => {
    const row = read.get(key)
    return row === undefined ? [] : [decodeDocument(row, columns)]
  }
}

function decodeDocument([revision, ...values]: DocumentRow, columns: readonly string[]): StoredDocument {
  const document: Record<string, FieldValue> = {}
  for (const [index, value] of values.entries()) document[columns[index] ?? ''] = value
  return { document, revision: BigInt(revision) }
}

/** Documents per page. Each page is a separate read, so that no reader blocks emptying the WAL. */
const PAGE = 500

function createScan(
  db: Database.Database,
  declaration: ModelDeclaration,
  table: TableName,
  guard: FileGuard,
): DocumentTable['scan'] {
  return async function* scan(texts = declaration.texts) {
    const columns = ['id', ...nonKeyFields(declaration), ...texts]
    const prepare = (where: string) =>
      db
        .prepare<FieldValue[], DocumentRow>(
          `SELECT ${quoteIdentifiers(['revision', ...columns])} FROM ${table} ${where} ORDER BY id LIMIT ${PAGE}`,
        )
        .raw()
    const [first, next] = guard(() => [prepare(''), prepare('WHERE id > ?')])
    const read = (after: FieldValue | undefined) => guard(() => (after === undefined ? first.all() : next.all(after)))
    for await (const rows of inPages(undefined, PAGE, ([, id]) => id, read))
      yield rows.map((row) => decodeDocument(row, columns))
  }
}
