import { LOG_STREAM } from '../../domain/installation/moving.ts'
import { StoreUnavailable, type EventStore, type From, type Position } from '../ports/event-store.ts'
import { Appender } from './appender.ts'
import { BatchStream } from './batch-stream.ts'
import { Connection } from './connection.ts'
import { encode } from './encoding.ts'
import { Gate, TRUSTED } from './gate.ts'
import { Identity } from './identity.ts'
import { interruptedBy } from './interruption.ts'
import { LiveFeed } from './live-feed.ts'
import { Reader } from './reader.ts'
import { SharedAnswer } from './shared-answer.ts'
import { LogSubscription } from './subscription.ts'
import { Followed } from '../followed.ts'
import { TIMING, type Timing } from './timing.ts'
import { warned, type Told } from '../ports/told.ts'

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
): EventStore {
  const connection = new Connection(address, timing)
  const reader = new Reader(connection, timing.read)
  const gate = new Gate(reader)
  const stored = (position: Position) => {
    feed.exists(position)
    reader.exists(position)
  }
  const appender = new Appender(new BatchStream(connection, timing.append), reader, filling ? undefined : gate, stored)
  const identity = new Identity(reader, appender)
  const head = new SharedAnswer(() => reader.head())
  const ask = () => head.get()
  const interrupted = interruptedBy(told)
  const heard = (newest: From, checkpoint: Position) => reader.exists(newest, checkpoint)
  const feed = new LiveFeed(connection, ask, heard, timing, interrupted)
  const followed = new Followed()
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  function checkOpen(): void {
    if (closing !== undefined) throw new StoreUnavailable('the connection to EventStoreDB is closed')
  }

  /** Closing waits for it. */
  function finish<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work)
    const forget = () => void underWay.delete(work)
    work.then(forget, forget)
    return work
  }

  async function write(work: () => Promise<Position[]>): Promise<Position[]> {
    if (!filling) await identity.get()
    return work()
  }

  async function shut(): Promise<void> {
    // Each has an answer of its own to its caller.
    await Promise.allSettled(underWay)
    followed.stop()
    await feed.close()
    await connection.close()
  }

  return {
    atomicMany: false,
    async append(stream, expected, events) {
      checkOpen()
      const append = { stream, expected, events }
      const runs = encode(append)
      const [position] = await finish(write(async () => [await appender.append(append, runs)]))
      if (stream === LOG_STREAM) gate.forget()
      if (position === undefined) throw new StoreUnavailable('EventStoreDB answered nothing')
      return position
    },
    async appendMany(appends) {
      checkOpen()
      return appends.length === 0 ? [] : finish(write(() => appender.appendMany(appends)))
    },
    async appendInOrder(appends) {
      checkOpen()
      return appends.length === 0 ? [] : finish(write(() => appender.appendInOrder(appends)))
    },
    async read(stream, { last } = {}) {
      checkOpen()
      return last === undefined ? reader.stream(stream) : reader.newest(stream, last)
    },
    async *readAll(from, filter) {
      checkOpen()
      yield* reader.all(from, await ask(), filter)
    },
    subscribe(from, filter) {
      checkOpen()
      return new LogSubscription({ connection, reader, feed, ask, timing, interrupted }, from, filter, followed)
    },
    async head() {
      checkOpen()
      return ask()
    },
    async eventAt(position) {
      checkOpen()
      return reader.at(position)
    },
    async identity() {
      checkOpen()
      return identity.get()
    },
    async closed() {
      checkOpen()
      return gate.state()
    },
    // A server that takes no writes says so to each of them.
    refusal: async () => undefined,
    // What was let through just before it was known, sent twice at most.
    fenceDelay: TRUSTED + 2 * timing.append,
    heardAt: () => connection.heardAt,
    close: () => (closing ??= shut()),
  }
}
