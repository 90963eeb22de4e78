import { createEventStore } from '../log/event-store.ts'
import { StoreUnavailable, type EventLog, type EventStore, type PositionOrStart } from '../ports/event-store.ts'
import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'
import { connect, eventLogFormat, copiedLogFormat, type EventLogFile } from './events/connection.ts'
import { encodeAppends } from './events/encoding.ts'
import { SqliteLiveFeed, SqliteSubscription, readPage, readPages, readStream } from './events/feed.ts'
import { positionAt } from './events/rows.ts'
import { EventWriter, type CommittedGroup } from './events/writer.ts'
import { DatabaseFile } from './database-file.ts'
import { checkpointWal, WalCheckpointer, walThread, type WalThread } from './wal.ts'

/** Bytes of a write that takes new pages as a stone does; a smaller one might fit into what the file has left. */
const PROBE = 32_768

/** Whether the log's disk refuses writes: known from the last one, and from trying again where that failed. */
class DiskWriteCheck {
  #recordFailure = false

  constructor(private readonly log: EventLogFile) {}

  recordSuccess(): void {
    this.#recordFailure = false
  }

  /** Of a write that failed for another reason than somebody else's lock. */
  recordFailure(): void {
    this.#recordFailure = true
  }

  /** Why writes are refused at this moment; undefined where they are not. Writes only where the last one failed. */
  currentError(): string | undefined {
    if (!this.#recordFailure) return undefined
    try {
      this.log.use((connection) => {
        connection.begin.run()
        // The table is gone again with the same commit; what stays are some free pages, which the next events take.
        connection.db.exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(${PROBE})); DROP TABLE room`)
        this.log.commit(connection)
      })
      this.#recordFailure = false
      return undefined
    } catch (error) {
      return error instanceof StoreUnavailable ? error.message : String(error)
    }
  }
}

/** Milliseconds after which an idle process notices what another one wrote. */
const WATCH_INTERVAL = 20

/** Counted since the log was opened. */
export type SqliteEventStoreStats = Readonly<EventWriter['stats'] & WalCheckpointer['stats']>

export interface SqliteEventStore extends EventStore<PositionOrStart> {
  stats(): SqliteEventStoreStats
  /** Keeps the file from growing past so many pages of 4 KiB, as a full disk does. */
  limitPages(pages: number): void
}

export type SqliteEventStoreOptions = {
  /** Milliseconds that an append waits for other processes' transactions; 5000 unless told. */
  readonly busyDeadlineMs?: number
  /** A log that is made empty, and takes appends before it is complete: another one's are copied into it. */
  readonly filling?: boolean
  /** Appends that follow when this has resolved are waited for: two commits of a disk cost more than one. */
  readonly otherCommit?: () => Promise<void> | undefined
  /** Told of a checkpoint that failed, and of a reading for a subscription, as often as it fails. */
  readonly told?: WarningLogger
  /** The process's own unless told. */
  readonly thread?: WalThread
}

/** Pages of 4 KiB that are written between two checkpoints: at most 16 MB. */
const PAGES_BETWEEN_CHECKPOINTS = 4096
/** What a commit writes beside its events' text: the last page of the table and those of the index. */
const PAGES_PER_COMMIT = 3
const PAGE_BYTES = 4096

/** Streams lie in any order, so that each append may touch a leaf of the index that no other one touches. */
const pagesOf = (appends: number, characters: number) => PAGES_PER_COMMIT + appends + characters / PAGE_BYTES

/**
 * Opens the embedded event log, or makes it.
 * @throws UnreadableFile for another program's file or a newer release's, StoreUnavailable
 */
export function openSqliteEventStore(
  file: string,
  {
    busyDeadlineMs = 5000,
    filling = false,
    otherCommit = () => undefined,
    told = emitWarning,
    thread = walThread,
  }: SqliteEventStoreOptions = {},
): SqliteEventStore {
  const format = filling ? copiedLogFormat : eventLogFormat
  const log: EventLogFile = new DatabaseFile(file, (path) => connect(path, format))
  const feed = new SqliteLiveFeed(log)
  const checkpointer = new WalCheckpointer({
    file,
    name: 'the log',
    mode: 'keep short',
    writesBetweenCheckpoints: PAGES_BETWEEN_CHECKPOINTS,
    thread,
    told,
    fallback: () => checkpointHere('keep up'),
  })
  const refusing = new DiskWriteCheck(log)

  const committed = (group: CommittedGroup) => {
    refusing.recordSuccess()
    const bytes = group.appends.reduce((sum, { append }) => sum + append.approximateBytes, 0)
    feed.onCommitted(group, bytes)
    checkpointer.recordWrites(pagesOf(group.appends.length, bytes))
  }
  const writer = new EventWriter({
    log,
    onCommitted: committed,
    onFailure: () => refusing.recordFailure(),
    busyDeadlineMs,
    filling,
    otherCommit,
  })
  const watch = setInterval(() => tryRefreshHead(feed), WATCH_INTERVAL).unref()

  function checkpointHere(mode: 'keep up' | 'empty'): void {
    try {
      log.use(({ db }) => checkpointWal(db, mode))
    } catch (error) {
      // The WAL keeps what could not be moved; the next opening reads it.
      told({ err: error, file }, 'a checkpoint of the log failed')
    }
  }

  const store: EventLog<PositionOrStart> = {
    isAppendManyAtomic: true,
    async append(stream, expected, events) {
      const [position] = await writer.write(encodeAppends([{ stream, expected, events }]))
      if (position === undefined) throw new StoreUnavailable(`${file} answered nothing`)
      return position
    },
    appendMany: async (appends) => (appends.length === 0 ? [] : writer.write(encodeAppends(appends))),
    read: async (stream, { last } = {}) => readStream(log, stream, last),
    async *readAll(from, filter) {
      yield* readPages(log, numberOf(from), feed.refreshHead(), filter)
    },
    subscribe: (from, filter) => new SqliteSubscription(feed.source(filter), numberOf(from), told),
    head: () => positionAt(feed.refreshHead()),
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
  const engine = {
    name: file,
    firstEventWritten: 'with its file',
    filling,
    fenceDelayMs: 0,
    diskErrorMessage: () => refusing.currentError(),
  } as const
  return {
    ...createEventStore(store, engine),
    stats: () => ({ ...writer.stats, ...checkpointer.stats }),
    limitPages: (pages) => log.use(({ db }) => void db.pragma(`max_page_count = ${pages}`)),
  }
}

const numberOf = (from: PositionOrStart) => (from === 'start' ? 0 : Number(from.commit))

function tryRefreshHead(feed: SqliteLiveFeed): void {
  try {
    feed.refreshHead()
  } catch {
    // Whoever asks next for the head is told; here nobody asked.
  }
}
