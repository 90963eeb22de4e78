import { Fence, MAX_FENCE_AGE_MS } from '../log/fence.ts'
import { createEventStore } from '../log/event-store.ts'
import { LogSubscription, type SubscriptionSource } from '../log/subscription.ts'
import { SingleFlight } from '../log/single-flight.ts'
import type { EventLog, PositionOrStart, EventStore, Position } from '../ports/event-store.ts'
import { Appender } from './appender.ts'
import { BatchAppendStream } from './batch-append-stream.ts'
import { EventStoreDBConnection } from './connection.ts'
import { reportInterruptions } from './failure.ts'
import { LiveFeed } from './live-feed.ts'
import { EventReader } from './reader.ts'
import { catchUp } from './catch-up.ts'
import { DEFAULT_TIMING, type Timing } from './timing.ts'
import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'

/**
 * The event store on EventStoreDB 22.10 to KurrentDB 26. It needs a separate database, because all streams are taken to
 * be ours. Connects with the first call.
 * @param address a connection string, `esdb://` or `esdb+discover://`, with credentials
 * @param isCopyTarget true for a log that receives another log's events, including its LogCreated; it accepts appends
 *   before it is complete
 * @param warn called for each failure of a subscription, which is then retried
 * @throws InvalidConnectionString
 */
export function openEventStoreDB(
  address: string,
  timing: Timing = DEFAULT_TIMING,
  { isCopyTarget = false, warn = emitWarning }: { readonly isCopyTarget?: boolean; readonly warn?: WarningLogger } = {},
): EventStore {
  const connection = new EventStoreDBConnection(address, timing)
  const reader = new EventReader(connection, timing)
  const readStream: EventLog['readStream'] = (stream, { last } = {}) =>
    last === undefined ? reader.readStream(stream) : reader.readNewest(stream, last)
  const fence = isCopyTarget ? undefined : new Fence({ readStream })
  const onStored = (position: Position) => {
    feed.observePosition(position)
    reader.observePosition(position)
  }
  const batches = new BatchAppendStream(connection, timing)
  const appender = new Appender(batches, reader, fence, onStored)
  const head = new SingleFlight(() => reader.head())
  const readHead = () => head.get()
  const onInterrupted = reportInterruptions(warn)
  const onCheckpoint = (newest: PositionOrStart, checkpoint: Position) => reader.observePosition(newest, checkpoint)
  const feed = new LiveFeed(connection, readHead, () => batches.isAppending, onCheckpoint, timing, onInterrupted)
  const source: SubscriptionSource = {
    batchAfter: (position, filter) => feed.tail.batchAfter(position, filter),
    follow: (wake) => feed.follow(wake),
    catchUp: (...args) => catchUp({ connection, reader, feed, readHead, timing }, ...args),
    onFailure: onInterrupted,
    backOff: timing,
  }

  const store: EventLog = {
    isAppendManyAtomic: false,
    append: async (stream, expected, events) => appender.append({ stream, expected, events }),
    async appendMany(appends, order = 'any') {
      if (appends.length === 0) return []
      return order === 'kept' ? appender.appendInOrder(appends) : appender.appendMany(appends)
    },
    readStream,
    async *readAll(from, filter) {
      yield* reader.readAll(from, await readHead(), filter)
    },
    subscribe: (from, filter) => new LogSubscription(source, from, filter),
    head: readHead,
    isHeadLocal: false,
    eventAt: (position) => reader.readAt(position),
    async close() {
      await feed.close()
      await connection.close()
    },
  }
  return createEventStore(store, {
    name: 'EventStoreDB',
    firstEventWritten: 'on first append',
    isCopyTarget,
    // An append that passed the fence check just before the fence was seen may be sent up to twice.
    fenceDelayMs: MAX_FENCE_AGE_MS + 2 * timing.appendTimeoutMs,
    ...(fence !== undefined && { onAppended: (stream: string) => fence.onAppended(stream) }),
    lastResponseAt: () => connection.lastResponseAt,
  })
}
