import { eventStoreOn } from '../log/event-store.ts'
import { StoreUnavailable, type EventLog, type EventStore, type From } from '../ports/event-store.ts'
import { warned, type Told } from '../../runtime/log.ts'
import { connect, eventLogFormat, filledLogFormat, type LogFile } from './events/connection.ts'
import { encodeAppends } from './events/encoding.ts'
import { Feed, LogSubscription, readPage, readPages, readStream } from './events/feed.ts'
import { positionAt } from './events/rows.ts'
import { Writer, type Group } from './events/writer.ts'
import { OpenFile } from './file.ts'
import { checkpoint, Checkpointer, walThread, type WalThread } from './wal.ts'

/** Bytes of a write that takes new pages as a stone does; a smaller one might fit into what the file has left. */
const PROBE = 32_768

/** Whether the log's disk refuses writes: known from the last one, and from trying again where that failed. */
class Refusing {
  #failed = false

  constructor(private readonly log: LogFile) {}

  wrote(): void {
    this.#failed = false
  }

  /** Of a write that failed for another reason than somebody else's lock. */
  failed(): void {
    this.#failed = true
  }

  /** Why writes are refused at this moment; undefined where they are not. Writes only where the last one failed. */
  now(): string | undefined {
    if (!this.#failed) return undefined
    try {
      this.log.use((connection) => {
        connection.begin.run()
        // The table is gone again with the same commit; what stays are some free pages, which the next events take.
        connection.db.exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(${PROBE})); DROP TABLE room`)
        this.log.commit(connection)
      })
      this.#failed = false
      return undefined
    } catch (error) {
      return error instanceof StoreUnavailable ? error.message : String(error)
    }
  }
}

/** Milliseconds after which an idle process notices what another one wrote. */
const WATCH_INTERVAL = 20

/** Counted since the log was opened. */
export type SqliteEventsStats = Readonly<Writer['stats'] & Checkpointer['stats']>

export interface SqliteEvents extends EventStore<From> {
  stats(): SqliteEventsStats
  /** Keeps the file from growing past so many pages of 4 KiB, as a full disk does. */
  limitPages(pages: number): void
}

export type SqliteEventsOptions = {
  /** Milliseconds that an append waits for other processes' transactions; 5000 unless told. */
  readonly busyDeadline?: number
  /** A log that is made empty, and takes appends before it is complete: another one's are copied into it. */
  readonly filling?: boolean
  /** Appends that follow when this has resolved are waited for: two commits of a disk cost more than one. */
  readonly otherCommit?: () => Promise<void> | undefined
  /** Told of a checkpoint that failed, and of a reading for a subscription, as often as it fails. */
  readonly told?: Told
  /** The process's own unless told. */
  readonly thread?: WalThread
}

/** Pages of 4 KiB that are written between two checkpoints: at most 16 MB. */
const PAGES_BETWEEN = 4096
/** What a commit writes beside its events' text: the last page of the table and those of the index. */
const PAGES_OF_COMMIT = 3
const PAGE_BYTES = 4096

/** Streams lie in any order, so that each append may touch a leaf of the index that no other one touches. */
const pagesOf = (appends: number, characters: number) => PAGES_OF_COMMIT + appends + characters / PAGE_BYTES

/**
 * Opens the embedded event log, or makes it.
 * @throws UnreadableFile for another program's file or a newer release's, StoreUnavailable
 */
export function openSqliteEvents(
  file: string,
  {
    busyDeadline = 5000,
    filling = false,
    otherCommit = () => undefined,
    told = warned,
    thread = walThread,
  }: SqliteEventsOptions = {},
): SqliteEvents {
  const format = filling ? filledLogFormat : eventLogFormat
  const log: LogFile = new OpenFile(file, (path) => connect(path, format))
  const feed = new Feed(log)
  const checkpointer = new Checkpointer({
    file,
    name: 'the log',
    mode: 'keep short',
    every: PAGES_BETWEEN,
    thread,
    told,
    instead: () => checkpointHere('keep up'),
  })
  const refusing = new Refusing(log)

  const committed = (group: Group) => {
    refusing.wrote()
    const bytes = group.written.reduce((sum, { append }) => sum + append.bytes, 0)
    feed.committed(group, bytes)
    checkpointer.written(pagesOf(group.written.length, bytes))
  }
  const writer = new Writer({ log, committed, failed: () => refusing.failed(), busyDeadline, filling, otherCommit })
  const watch = setInterval(() => lookQuietly(feed), WATCH_INTERVAL).unref()

  function checkpointHere(mode: 'keep up' | 'empty'): void {
    try {
      log.use(({ db }) => checkpoint(db, mode))
    } catch (error) {
      // The WAL keeps what could not be moved; the next opening reads it.
      told({ err: error, file }, 'a checkpoint of the log failed')
    }
  }

  const store: EventLog<From> = {
    atomicMany: true,
    async append(stream, expected, events) {
      const [position] = await writer.write(encodeAppends([{ stream, expected, events }]))
      if (position === undefined) throw new StoreUnavailable(`${file} answered nothing`)
      return position
    },
    appendMany: async (appends) => (appends.length === 0 ? [] : writer.write(encodeAppends(appends))),
    read: async (stream, { last } = {}) => readStream(log, stream, last),
    async *readAll(from, filter) {
      yield* readPages(log, numberOf(from), feed.look(), filter)
    },
    subscribe: (from, filter) => new LogSubscription(feed.source(filter), numberOf(from), told),
    head: () => positionAt(feed.look()),
    async eventAt(position) {
      const at = Number(position.commit)
      return readPage(log, at - 1, at, undefined)[0]
    },
    async close() {
      clearInterval(watch)
      await checkpointer.close()
      // So that it can be copied alone.
      checkpointHere('empty')
      log.close()
    },
  }
  // Each transaction looks for the fence itself.
  const engine = { name: file, isBorn: 'with its file', filling, fenceDelay: 0, refusal: () => refusing.now() } as const
  return {
    ...eventStoreOn(store, engine),
    stats: () => ({ ...writer.stats, ...checkpointer.stats }),
    limitPages: (pages) => log.use(({ db }) => void db.pragma(`max_page_count = ${pages}`)),
  }
}

const numberOf = (from: From) => (from === 'start' ? 0 : Number(from.commit))

function lookQuietly(feed: Feed): void {
  try {
    feed.look()
  } catch {
    // Whoever asks next for the head is told; here nobody asked.
  }
}
