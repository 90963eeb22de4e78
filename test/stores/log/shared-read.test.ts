import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { shareReads, type SharedReadTiming } from '../../../src/stores/log/shared-read.ts'
import {
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
  type Subscription,
} from '../../../src/stores/ports/event-store.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('consumers that catch up')

const at = (n: number): Position => ({ commit: BigInt(n), prepare: BigInt(n) })
const numberOf = (from: PositionOrStart) => (from === 'start' ? 0 : Number(from.commit))

/** A log that alternates `a-…` and `b-…` streams and counts the events that it delivers. */
class CountingLog {
  delivered = 0
  breaksAt = Number.POSITIVE_INFINITY
  constructor(readonly length: number) {}

  get store(): EventStore {
    const subscribe = (from: PositionOrStart, filter?: StreamFilter) => this.#subscribe(from, filter)
    return { subscribe, head: async () => at(this.length) } as unknown as EventStore
  }

  #subscribe(from: PositionOrStart, filter: StreamFilter | undefined): Subscription {
    const state = { stopped: false }
    const events = (first: number, last: number) => this.#events(first, last, filter)
    const { length } = this
    const wait = () => new Promise<void>((done) => setImmediate(done))
    const breaks = (last: number) => {
      if (last < this.breaksAt) return
      this.breaksAt = Number.POSITIVE_INFINITY
      throw new StoreUnavailable('injected failure')
    }
    return {
      stop: () => void (state.stopped = true),
      async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch> {
        for (let first = numberOf(from) + 1; !state.stopped; first += PAGE) {
          const last = Math.min(first + PAGE - 1, length)
          breaks(last)
          yield { events: events(first, last), position: at(last), caughtUp: last === length }
          await wait()
          if (last === length) while (!state.stopped) await wait()
        }
      },
    }
  }

  #events(first: number, last: number, filter: StreamFilter | undefined): StoredEvent[] {
    const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
    const found = all
      .map((n) => ({ stream: `${n % 2 === 0 ? 'a' : 'b'}-${n}`, position: at(n) }) as StoredEvent)
      .filter(({ stream }) => filter?.prefixes.some((prefix) => stream.startsWith(prefix)) ?? true)
    this.delivered += found.length
    return found
  }
}

const PAGE = 1_000
const LENGTH = 10_000
const TIMING: SharedReadTiming = { gatherMs: 5, maxWaitMs: 30, maxBufferedEvents: 3_000 }

/** Reads to the head of the log, and awaits `between` after each batch. */
async function readToHead(
  store: EventStore,
  prefixes: string[],
  between?: () => Promise<void>,
  from: PositionOrStart = 'start',
) {
  const seen: number[] = []
  for await (const { events, caughtUp } of store.subscribe(from, { prefixes })) {
    seen.push(...events.map(({ position }) => numberOf(position)))
    if (caughtUp) break
    await between?.()
  }
  return seen
}

const numbers = (first: number, step: number) =>
  Array.from({ length: Math.ceil((LENGTH - first + 1) / step) }, (_, index) => first + index * step)
const all = numbers(1, 1)

/** Passes the time in which consumers gather for a shared read. */
const passGatherTime = (time: FakeTime) => time.advance(TIMING.gatherMs)

test('from the same position share one read, and each receives its own streams in order', () =>
  withFakeTime(async (time) => {
    const log = new CountingLog(LENGTH)
    const store = shareReads(log.store, TIMING)
    const found = Promise.all([['a-'], ['b-'], ['a-', 'b-']].map((prefixes) => readToHead(store, prefixes)))
    await passGatherTime(time)
    assert.equal(await found, [numbers(2, 2), numbers(1, 2), all])
    assert.is(log.delivered, LENGTH, 'each event was read once')
  }))

test('and start later share the events that are still buffered', () =>
  withFakeTime(async (time) => {
    const log = new CountingLog(LENGTH)
    const store = shareReads(log.store, TIMING)
    let late: Promise<number[]> | undefined
    const early = readToHead(
      store,
      ['a-', 'b-'],
      async () => void (late ??= readToHead(store, ['b-'], undefined, at(PAGE))),
    )
    await passGatherTime(time)
    assert.equal([await early, await late], [all, numbers(PAGE + 1, 2)])
    assert.is(log.delivered, LENGTH, 'each event was read once')
  }))

test('continue without one that stalls, which still misses no event', () =>
  withFakeTime(async (time) => {
    const store = shareReads(new CountingLog(LENGTH).store, TIMING)
    let resume = () => {}
    const resumed = new Promise<void>((done) => (resume = done))
    let signalStall = () => {}
    const stalled = new Promise<void>((done) => (signalStall = done))
    const slow = readToHead(store, ['a-'], () => {
      signalStall()
      return resumed
    })
    let isDone = false
    const others = readToHead(store, ['a-', 'b-']).finally(() => (isDone = true))
    await passGatherTime(time)
    await stalled
    await until('the others to continue', async () => {
      await time.advance(TIMING.maxWaitMs)
      return isDone
    })
    assert.equal(await others, all)
    resume()
    assert.equal(await slow, numbers(2, 2))
  }))

test('from different positions each receive every event after their own', () =>
  withFakeTime(async (time) => {
    const store = shareReads(new CountingLog(LENGTH).store, TIMING)
    const found = Promise.all([readToHead(store, ['a-', 'b-']), readToHead(store, ['b-'], undefined, at(7_000))])
    await passGatherTime(time)
    assert.equal(await found, [all, numbers(7_001, 2)])
  }))

test('continue alone when the shared read fails', () =>
  withFakeTime(async (time) => {
    const log = new CountingLog(LENGTH)
    log.breaksAt = 5_000
    const store = shareReads(log.store, TIMING)
    const found = Promise.all([readToHead(store, ['a-', 'b-']), readToHead(store, ['b-'])])
    await passGatherTime(time)
    assert.equal(await found, [all, numbers(1, 2)])
  }))

test('get the error of a log that was closed before their shared read began', () =>
  withFakeTime(async (time) => {
    const subscribe = () => {
      throw new StoreUnavailable('closed')
    }
    const store = shareReads({ ...new CountingLog(LENGTH).store, subscribe }, TIMING)
    const outcome = readToHead(store, ['a-']).catch((error: unknown) => error)
    await passGatherTime(time)
    assert.is(String(await outcome), String(new StoreUnavailable('closed')))
  }))

test('that stop before their shared read begins read nothing', () =>
  withFakeTime(async (time) => {
    const { store } = new CountingLog(LENGTH)
    let opened = 0
    const subscribe: EventStore['subscribe'] = (...args) => {
      opened++
      return store.subscribe(...args)
    }
    const subscription = shareReads({ ...store, subscribe }, TIMING).subscribe('start', { prefixes: ['a-'] })
    const batches = subscription[Symbol.asyncIterator]()
    const first = batches.next()
    await time.advance(TIMING.gatherMs - 1)
    subscription.stop()
    assert.is((await first).done, true)
    await passGatherTime(time)
    assert.is(opened, 0)
  }))

test('end when they are stopped, even while they wait for a batch', () =>
  withFakeTime(async (time) => {
    const hanging = new CountingLog(LENGTH).store
    const never: Subscription = {
      stop: () => undefined,
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    }
    const store = shareReads({ ...hanging, subscribe: () => never }, TIMING)
    const subscription = store.subscribe('start', { prefixes: ['a-'] })
    const ended = (async () => {
      for await (const batch of subscription) assert.unreachable(`received a batch: ${String(batch)}`)
    })()
    await passGatherTime(time)
    subscription.stop()
    await ended
  }))

test.run()
