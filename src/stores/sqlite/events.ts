import { StoreUnavailable, type Append, type EventStore, type From, type Position } from '../ports/event-store.ts'
import { Followed } from '../followed.ts'
import { Checkpointer, type CheckpointerStats } from './events/checkpointer.ts'
import { closedOf } from './events/closed.ts'
import { encodeAppends } from './events/encoding.ts'
import { Feed } from './events/feed.ts'
import { eventLogFormat, filledLogFormat } from './events/format.ts'
import type { Group } from './events/group.ts'
import { LogFile } from './events/log-file.ts'
import { readPage, readPages, readStream } from './events/reader.ts'
import { Refusing } from './events/refusing.ts'
import { positionAt } from './events/rows.ts'
import { warned, type Told } from '../ports/told.ts'
import { LogSubscription } from './events/subscription.ts'
import { Writer, type WriterStats } from './events/writer.ts'

/** Milliseconds after which an idle process notices what another one wrote. */
const WATCH_INTERVAL = 20

/** Counted since the log was opened. */
export type SqliteEventsStats = Readonly<WriterStats & CheckpointerStats>

export interface SqliteEvents extends EventStore {
  /** Without a promise, in about 2 us. */
  head(): From
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
  readonly joined?: () => Promise<void> | undefined
  /** Told of a checkpoint that failed, and of a reading for a subscription, as often as it fails. */
  readonly told?: Told
}

/**
 * Opens the embedded event log, or makes it.
 * @throws UnreadableFile for another program's file or a newer release's, StoreUnavailable
 */
export function openSqliteEvents(
  file: string,
  { busyDeadline = 5000, filling = false, joined = () => undefined, told = warned }: SqliteEventsOptions = {},
): SqliteEvents {
  const log = new LogFile(file, filling ? filledLogFormat : eventLogFormat)
  const feed = new Feed(log)
  const checkpointer = new Checkpointer(log, told)
  const refusing = new Refusing(log)
  const followed = new Followed()
  let closing: Promise<void> | undefined

  const committed = (group: Group) => {
    refusing.wrote()
    const bytes = group.written.reduce((sum, { append }) => sum + append.bytes, 0)
    feed.committed(group, bytes)
    checkpointer.committed(group.written.length, bytes)
  }
  const writer = new Writer({ log, committed, failed: () => refusing.failed(), busyDeadline, filling, joined })
  const watch = setInterval(() => lookQuietly(feed), WATCH_INTERVAL).unref()

  async function shut(): Promise<void> {
    await writer.drain()
    clearInterval(watch)
    followed.stop()
    await checkpointer.close()
    log.close()
  }

  function checkOpen(): void {
    if (closing !== undefined) throw new StoreUnavailable(`${file} is closed`)
  }

  async function together(appends: readonly Append[]): Promise<Position[]> {
    checkOpen()
    return appends.length === 0 ? [] : writer.write(encodeAppends(appends))
  }

  return {
    atomicMany: true,
    async append(stream, expected, events) {
      checkOpen()
      const [position] = await writer.write(encodeAppends([{ stream, expected, events }]))
      if (position === undefined) throw new StoreUnavailable(`${file} answered nothing`)
      return position
    },
    appendMany: together,
    appendInOrder: together,
    async read(stream, { last } = {}) {
      checkOpen()
      return readStream(log, stream, last)
    },
    async *readAll(from, filter) {
      checkOpen()
      yield* readPages(log, numberOf(from), feed.look(), filter)
    },
    subscribe(from, filter) {
      checkOpen()
      return new LogSubscription(feed.source(filter), numberOf(from), followed, told)
    },
    head() {
      checkOpen()
      return positionAt(feed.look())
    },
    async eventAt(position) {
      checkOpen()
      const at = Number(position.commit)
      return readPage(log, at - 1, at, undefined)[0]
    },
    async identity() {
      checkOpen()
      return identityOf(log)
    },
    async closed() {
      checkOpen()
      return log.use(closedOf)
    },
    async refusal() {
      checkOpen()
      return refusing.now()
    },
    fenceDelay: 0,
    close: () => (closing ??= shut()),
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

function identityOf(log: LogFile): string {
  const data: unknown = JSON.parse(log.use((connection) => connection.identity.get() ?? '{}'))
  if (typeof data === 'object' && data !== null && 'identity' in data) return String(data.identity)
  throw new StoreUnavailable(`${log.file} has no LogCreated`)
}
