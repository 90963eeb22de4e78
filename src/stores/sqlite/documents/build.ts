import type Database from 'better-sqlite3'
import type { From } from '../../ports/event-store.ts'
import {
  SEQUENCES,
  type Build,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type Stored,
  type Table,
} from '../../ports/read-store.ts'
import { kept, type Turn } from '../changes.ts'
import { available, whenWritable } from './file.ts'
import { progressOf } from './progress.ts'
import { queriesOf, type Queries } from './queries.ts'
import { list, otherFields, type TableName } from './schema.ts'
import { transactions } from '../open-file.ts'
import { writesOf } from './writes.ts'

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

const asTable = ({ load, walk }: OpenTable): Table => ({ load: async (keys, texts) => load(keys, texts), walk })

/** A table of a build, read at once. */
type OpenTable = Pick<Table, 'walk'> & {
  load(this: void, keys: readonly FieldValue[], texts?: readonly string[]): Stored[]
}

function tableOf(db: Database.Database, declaration: ModelDeclaration, table: TableName): OpenTable {
  const readers = new Map<string, (key: FieldValue) => Stored[]>()

  function readerFor(texts: readonly string[]): (key: FieldValue) => Stored[] {
    const name = texts.join()
    const known = readers.get(name)
    if (known !== undefined) return known
    const made = documentReader(db, table, ['id', ...otherFields(declaration), ...texts])
    readers.set(name, made)
    return made
  }

  return {
    load: (keys, texts = declaration.texts) => available(() => keys.flatMap(readerFor(texts))),
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
