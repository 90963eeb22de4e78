import { Fence, TRUSTED } from '../log/fence.ts'
import { eventStoreOn } from '../log/event-store.ts'
import { SharedAnswer } from '../log/shared-answer.ts'
import type { EventLog, From, EventStore, Position } from '../ports/event-store.ts'
import { Appender } from './appender.ts'
import { BatchStream } from './batch-stream.ts'
import { Connection } from './connection.ts'
import { interruptedBy } from './failure.ts'
import { LiveFeed } from './live-feed.ts'
import { Reader } from './reader.ts'
import { LogSubscription } from './subscription.ts'
import { TIMING, type Timing } from './timing.ts'
import { warned, type Told } from '../../runtime/log.ts'

/**
 * The event store on EventStoreDB 21.10 to KurrentDB 25: a database of its own, since every stream is taken for ours.
 * Nothing is connected before the first call.
 * @param address a connection string, `esdb://` or `esdb+discover://`, with the credentials
 * @param filling for a log that another one's events are copied into, its LogCreated among them: it takes appends
 *   before it is complete
 * @param told of a subscription that broke and is made anew, as often as that fails
 * @throws BadAddress
 */
export function openEventStoreDB(
  address: string,
  timing: Timing = TIMING,
  { filling = false, told = warned }: { readonly filling?: boolean; readonly told?: Told } = {},
): EventStore<Promise<From>> {
  const connection = new Connection(address, timing)
  const reader = new Reader(connection, timing)
  const read: EventLog['read'] = (stream, { last } = {}) =>
    last === undefined ? reader.stream(stream) : reader.newest(stream, last)
  const fence = filling ? undefined : new Fence({ read })
  const stored = (position: Position) => {
    feed.exists(position)
    reader.exists(position)
  }
  const batches = new BatchStream(connection, timing)
  const appender = new Appender(batches, reader, fence, stored)
  const head = new SharedAnswer(() => reader.head())
  const ask = () => head.get()
  const interrupted = interruptedBy(told)
  const heard = (newest: From, checkpoint: Position) => reader.exists(newest, checkpoint)
  const feed = new LiveFeed(connection, ask, () => batches.isUnderWay, heard, timing, interrupted)

  const store: EventLog<Promise<From>> = {
    atomicMany: false,
    append: async (stream, expected, events) => appender.append({ stream, expected, events }),
    async appendMany(appends, order = 'any') {
      if (appends.length === 0) return []
      return order === 'kept' ? appender.appendInOrder(appends) : appender.appendMany(appends)
    },
    read,
    async *readAll(from, filter) {
      yield* reader.all(from, await ask(), filter)
    },
    subscribe: (from, filter) =>
      new LogSubscription({ connection, reader, feed, ask, timing, interrupted }, from, filter),
    head: ask,
    eventAt: (position) => reader.at(position),
    async close() {
      await feed.close()
      await connection.close()
    },
  }
  return eventStoreOn(store, {
    name: 'EventStoreDB',
    isBorn: 'at its first append',
    filling,
    // What was let through just before the fence was known, sent twice at most.
    fenceDelay: TRUSTED + 2 * timing.append,
    ...(fence !== undefined && { appended: (stream: string) => fence.appended(stream) }),
    heardAt: () => connection.heardAt,
  })
}
