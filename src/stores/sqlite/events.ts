import { createEventStore } from '../log/event-store.ts'
import { LogSubscription } from '../log/subscription.ts'
import { StoreUnavailable, type EventLog, type EventStore } from '../ports/event-store.ts'
import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'
import { connect, eventLogFormat, copiedLogFormat, LOG_DAMAGE_REMEDY, type EventLogFile } from './events/connection.ts'
import { encodeAppends } from './events/encoding.ts'
import { numberOf, SqliteLiveFeed, readPage, readPages, readStream } from './events/feed.ts'
import { positionAt } from './events/rows.ts'
import { EventWriter, type CommittedGroup } from './events/writer.ts'
import { DatabaseFile, messageOf } from './database-file.ts'
import { logThread, type StorageThread } from './storage-thread.ts'
import { checkpointWal, WalCheckpointer, walThread, type WalThread } from './wal.ts'

/** Milliseconds between two checks for events of other processes. */
const WATCH_INTERVAL_MS = 20

/** Since the log was opened. */
export type SqliteEventStoreStats = Readonly<EventWriter['stats'] & WalCheckpointer['stats']>

export interface SqliteEventStore extends EventStore {
  stats(): SqliteEventStoreStats
  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  limitPages(pages: number): Promise<void>
}

export type SqliteEventStoreOptions = {
  /** Milliseconds that an append waits for other processes' transactions; default 5000. */
  readonly busyTimeoutMs?: number
  /** Creates an empty log that accepts appends before it is complete: another log's events are copied into it. */
  readonly isCopyTarget?: boolean
  /** Called for a failed checkpoint and for each failed read of a subscription. */
  readonly warn?: WarningLogger
  /** Checkpoints the WAL; by default the process's thread for that. */
  readonly thread?: WalThread
  /** Writes the log; by default the process's thread for that. */
  readonly storageThread?: StorageThread
}

/** Pages of 4 KiB: a checkpoint of 16 MB. */
const MAX_WAL_PAGES = 4096

/** Reads the log's head. The log is closed if that fails. @throws StoreUnavailable */
function openFeed(log: EventLogFile, warn: WarningLogger, isWriting: () => boolean): SqliteLiveFeed {
  try {
    return new SqliteLiveFeed(log, warn, isWriting)
  } catch (error) {
    log.close()
    throw error
  }
}

/**
 * Opens the embedded event log, or creates it.
 * @throws UnreadableFile for a file of another program or of a newer release; StoreUnavailable
 */
export function openSqliteEventStore(
  file: string,
  {
    busyTimeoutMs = 5000,
    isCopyTarget = false,
    warn = emitWarning,
    thread = walThread,
    storageThread = logThread,
  }: SqliteEventStoreOptions = {},
): SqliteEventStore {
  const format = isCopyTarget ? copiedLogFormat : eventLogFormat
  const log: EventLogFile = new DatabaseFile(file, (path) => connect(path, format), LOG_DAMAGE_REMEDY)
  const checkpointer = new WalCheckpointer({
    file,
    name: 'the log',
    maxPages: MAX_WAL_PAGES,
    countPages: () => log.use(({ countWalPages }) => countWalPages()),
    thread,
    warn,
    fallback: () => checkpointOnLoop('passive'),
  })

  const onCommitted = (group: CommittedGroup) => {
    const bytes = group.appends.reduce((sum, { append }) => sum + append.approximateBytes, 0)
    feed.onCommitted(group, bytes)
    checkpointer.afterCommit()
  }
  const kind = isCopyTarget ? 'copied log' : 'log'
  const writer = new EventWriter({
    file: { path: file, kind, busyTimeoutMs },
    thread: storageThread,
    warn,
    onCommitted,
  })
  const feed = openFeed(log, warn, () => writer.isWriting)
  const watch = setInterval(() => tryRefreshHead(feed), WATCH_INTERVAL_MS).unref()

  function checkpointOnLoop(mode: 'passive' | 'truncate'): void {
    try {
      log.use(({ db }) => checkpointWal(db, mode))
    } catch (error) {
      // The WAL keeps what could not be checkpointed; it is read when the log is next opened.
      warn({ file, reason: messageOf(error) }, 'a checkpoint of the log failed')
    }
  }

  const store: EventLog = {
    isAppendManyAtomic: true,
    async append(stream, expected, events) {
      const [position] = await writer.write(encodeAppends([{ stream, expected, events }]))
      if (position === undefined) throw new StoreUnavailable(`${file}: the append returned no position`)
      return position
    },
    appendMany: async (appends) => (appends.length === 0 ? [] : writer.write(encodeAppends(appends))),
    readStream: async (stream, { last } = {}) => readStream(log, stream, last),
    async *readAll(from, filter) {
      yield* readPages(log, numberOf(from), feed.refreshHead(), filter)
    },
    subscribe: (from, filter) => new LogSubscription(feed.source, from, filter),
    head: async () => positionAt(feed.refreshHead()),
    isHeadLocal: true,
    async eventAt(position) {
      const at = Number(position.commit)
      return readPage(log, at - 1, at, undefined)[0]
    },
    async close() {
      clearInterval(watch)
      await writer.close()
      await checkpointer.close()
      // Empties the WAL so that the file can be copied alone.
      checkpointOnLoop('truncate')
      log.close()
    },
  }
  // fenceDelayMs is 0: every transaction checks the fence itself.
  const engine = {
    name: file,
    firstEventWritten: 'on creation',
    isCopyTarget,
    fenceDelayMs: 0,
    diskErrorMessage: () => writer.diskError(),
  } as const
  return {
    ...createEventStore(store, engine),
    stats: () => ({ ...writer.stats, ...checkpointer.stats }),
    limitPages: (pages) => writer.limitPages(pages),
  }
}

function tryRefreshHead(feed: SqliteLiveFeed): void {
  try {
    feed.refreshHead()
  } catch {
    // Ignored here: the next caller of `head` gets the error.
  }
}
