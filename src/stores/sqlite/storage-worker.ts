import Database from 'better-sqlite3'
import { parentPort } from 'node:worker_threads'
import { DamagedStore } from '../ports/event-store.ts'
import {
  DatabaseFile,
  isBusy,
  isBusyError,
  messageOf,
  type FileWriter,
  type TransactionalConnection,
} from './database-file.ts'
import { copiedLogFormat, eventLogFormat } from './events/connection.ts'
import { logWriter } from './events/log-writer.ts'
import { vaultWriter } from './vault/vault-writer.ts'

/** A file that a storage thread writes. */
export type StorageFile = {
  readonly path: string
  readonly kind: keyof typeof WRITERS
  /** Milliseconds that a transaction waits for other processes' locks. */
  readonly busyTimeoutMs: number
}

export type StorageTask = StorageFile &
  (
    | { readonly do: 'write'; readonly changes: readonly unknown[] }
    /** Finds out whether the disk accepts writes: `thoroughly` by a test write. */
    | { readonly do: 'check'; readonly thoroughly: boolean }
    | { readonly do: 'limit'; readonly pages: number }
    | { readonly do: 'close' }
  )

export type StorageAnswer = { readonly value: unknown } | { readonly failure: StorageFailure }

/** An error that the thread caught. `name` is that of its class. */
export type StorageFailure = {
  readonly name: string
  readonly message: string
  readonly remedy?: string
  /** SQLite's own error. */
  readonly sqlite?: { readonly code: string; readonly message: string }
}

const WRITERS = {
  log: logWriter(eventLogFormat),
  'copied log': logWriter(copiedLogFormat),
  vault: vaultWriter,
}

type AnyWriter = FileWriter<TransactionalConnection, unknown, unknown>

/** By path. Each is opened by the first task and closed by the last one. */
const files = new Map<string, DatabaseFile<TransactionalConnection>>()

/** Every message gets a response, so that the worker pool continues after failures. */
parentPort?.on('message', (task: StorageTask) => parentPort?.postMessage(respond(task)))

function respond(task: StorageTask): StorageAnswer {
  try {
    return { value: run(task) }
  } catch (error) {
    return { failure: describeFailure(error) }
  }
}

function run(task: StorageTask): unknown {
  const { path, kind, busyTimeoutMs } = task
  const writer = WRITERS[kind] as unknown as AnyWriter
  if (task.do === 'close') {
    files.get(path)?.close()
    files.delete(path)
    return undefined
  }
  const file = files.get(path) ?? openFile(path, writer)
  if (task.do === 'write') return transact(file, busyTimeoutMs, (connection) => writer.write(connection, task.changes))
  if (task.do === 'check') return findDiskError(file, task.thoroughly)
  return file.use(({ db }) => void db.pragma(`max_page_count = ${task.pages}`))
}

function openFile(path: string, { connect, damageRemedy }: AnyWriter): DatabaseFile<TransactionalConnection> {
  const file = new DatabaseFile(path, connect, damageRemedy)
  files.set(path, file)
  return file
}

/** @throws OutcomeUnknown if the commit fails; StoreUnavailable if it fails earlier: nothing was written then */
const transact = <Result>(
  file: DatabaseFile<TransactionalConnection>,
  busyTimeoutMs: number,
  write: (connection: TransactionalConnection) => Result,
): Result =>
  file.use((connection) => {
    beginWithin(connection, busyTimeoutMs)
    const written = write(connection)
    file.commit(connection)
    return written
  })

/**
 * Tries every few milliseconds: SQLite's own waits become so long that a process that writes all the time would hold
 * the lock at each try.
 */
function beginWithin({ begin }: TransactionalConnection, busyTimeoutMs: number): void {
  const deadline = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      return void begin.run()
    } catch (error) {
      if (!isBusyError(error) || performance.now() >= deadline) throw error
    }
  }
}

/**
 * Bytes of the test write. Large enough to need new pages, like a stone's event: a smaller write might fit into free
 * space of the file.
 */
const PROBE_BYTES = 32_768

/**
 * Why the disk rejects writes now. A read-only file does not even permit a transaction without changes; only a test
 * write finds a full disk.
 */
function findDiskError(file: DatabaseFile<TransactionalConnection>, thoroughly: boolean): string | undefined {
  try {
    if (!thoroughly) file.use(beginAndRollBack)
    // The same transaction drops the table. It leaves a few free pages, which the next changes use.
    else
      transact(file, 0, ({ db }) =>
        db.exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(${PROBE_BYTES})); DROP TABLE room`),
      )
    return undefined
  } catch (error) {
    // Another process is writing, so the disk accepts writes, unless the last one failed.
    return isBusy(error) && !thoroughly ? undefined : messageOf(error)
  }
}

function beginAndRollBack({ db, begin, rollback }: TransactionalConnection): void {
  begin.run()
  // Changes nothing, but fails for a read-only file, for which BEGIN IMMEDIATE begins a read transaction.
  db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true }))}`)
  rollback.run()
}

function describeFailure(error: unknown): StorageFailure {
  const { name = 'Error', cause } = error instanceof Error ? error : {}
  return {
    name,
    message: messageOf(error),
    ...(error instanceof DamagedStore && { remedy: error.remedy }),
    ...(cause instanceof Database.SqliteError && { sqlite: { code: cause.code, message: cause.message } }),
  }
}
