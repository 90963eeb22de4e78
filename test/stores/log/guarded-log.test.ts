import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  LogClosed,
  OutcomeUnknown,
  StoreMisconfigured,
  StoreUnavailable,
  type EventStore,
} from '../../../src/stores/ports/event-store.ts'
import { guardLog, isLogOutage } from '../../../src/stores/log/guarded-log.ts'
import { OutageWait } from '../../../src/stores/log/outage-wait.ts'
import { failureOf } from '../../failure-of.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'

const test = suite('a log behind circuit breakers')

/** Milliseconds without any response after which the breaker opens, and between two health checks. */
const SILENCE = 3_000
const AGAIN = 250

const position = (commit: bigint) => ({ commit, prepare: commit })
const never = () => new Promise<never>(() => {})
/** An event store behind the guard; `state.fault` makes its calls fail or hang. */
function serverLog(startWait?: OutageWait) {
  const state = { fault: undefined as 'unavailable' | 'hangs' | undefined, calls: 0, head: 1n }
  const call = async <Result>(respond: () => Result): Promise<Result> => {
    state.calls++
    if (state.fault === 'hangs') return never()
    if (state.fault === 'unavailable') throw new StoreUnavailable('EventStoreDB: not reachable')
    return respond()
  }
  const log: Record<string, unknown> & Pick<EventStore, 'readStream' | 'append'> & { lastResponseAt?: () => number } = {
    isAppendManyAtomic: false,
    fenceDelayMs: 0,
    head: () => call(() => position(state.head)),
    readStream: () => call(() => []),
    append: () => call(() => position(++state.head)),
    closedReason: () => call(() => undefined),
    identity: async () => 'known here',
    async *readAll() {
      yield await call(() => ({ type: 'SomethingHappened' }))
      yield await call(() => ({ type: 'SomethingHappened' }))
    },
  }
  const guarded = guardLog(log as unknown as EventStore, 'EventStoreDB', startWait)
  const isOpen = async () => (await guarded.breaker.settledState()) !== 'closed'
  return { state, log, guarded, store: guarded.store, isOpen }
}

test('rejects calls at once while the breaker is open and is called again after a successful health check', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, isOpen } = serverLog()
    await store.readStream('s')
    state.fault = 'unavailable'
    await failureOf(store.readStream('s'))
    const opened = isOpen()
    await time.advance(AGAIN)
    assert.is(await opened, true)
    state.fault = 'hangs'
    assert.instance(await failureOf(store.readStream('s')), StoreUnavailable)
    assert.instance(await failureOf(store.append('s', 'none', [])), StoreUnavailable)
    guarded.breaker.stop()

    const other = serverLog()
    other.state.fault = 'unavailable'
    await failureOf(other.store.readStream('s'))
    const otherIsOpen = other.isOpen()
    await time.advance(AGAIN)
    assert.is(await otherIsOpen, true)
    other.state.fault = undefined
    await time.advance(AGAIN)
    assert.is(await other.isOpen(), false)
    assert.equal(await other.store.readStream('s'), [])
  }))

test('rejects waiting calls after 3 s without a response, appends with an unknown outcome', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, isOpen } = serverLog()
    await store.readStream('s')
    const answeredAt = guarded.breaker.answeredAt
    state.fault = 'hangs'
    const events = store.readAll('start')[Symbol.asyncIterator]()
    let rejected = 0
    const waiting = [store.readStream('s'), store.append('s', 'none', []), store.head(), events.next()].map(
      async (work) => {
        const failure = await failureOf(work as Promise<unknown>)
        rejected++
        return failure
      },
    )
    await time.advance(SILENCE - 1)
    assert.is(rejected, 0)
    await time.advance(1)
    const faults = await Promise.all(waiting)
    assert.equal(
      faults.map(({ name }) => name),
      ['StoreUnavailable', 'OutcomeUnknown', 'StoreUnavailable', 'StoreUnavailable'],
    )
    assert.match(faults[0]?.message ?? '', /^EventStoreDB: /)
    // The identity is cached in this process, so it does not show that the log responds.
    assert.is(await store.identity(), 'known here')
    assert.is(await isOpen(), true)
    assert.is(guarded.breaker.answeredAt, answeredAt)
    guarded.breaker.stop()
  }))

test('keeps the breaker closed when one call is slow and others succeed', () =>
  withFakeTime(async (time) => {
    const { log, store, isOpen } = serverLog()
    let respond: (events: never[]) => void = () => {}
    log.readStream = () => new Promise<never[]>((done) => (respond = done))
    const long = store.readStream('s')
    await time.advance(2 * SILENCE)
    assert.is(await isOpen(), false)
    respond([])
    assert.equal(await long, [])
  }))

test('keeps the breaker closed while parts of a response arrive', () =>
  withFakeTime(async (time) => {
    const { state, log, guarded, store, isOpen } = serverLog()
    state.fault = 'hangs'
    log.lastResponseAt = () => performance.now()
    const failure = failureOf(Promise.resolve(store.head()))
    await time.advance(2 * SILENCE)
    assert.is(await isOpen(), false)
    log.lastResponseAt = () => 0
    await time.advance(2 * SILENCE)
    await failure
    assert.is(await isOpen(), true)
    guarded.breaker.stop()
  }))

test('remembers the newest position', async () => {
  const { guarded, store } = serverLog()
  assert.equal(await store.head(), position(1n))
  assert.equal(await store.append('s', 'none', []), position(2n))
  assert.equal(guarded.newestPosition(), position(2n))
})

/** A log whose calls wait, as during a start; `lines` are the logged ones. */
function waitingLog() {
  const lines: string[] = []
  const warn = (_: unknown, message: string) => void lines.push(message)
  const startWait = new OutageWait({ store: 'EventStoreDB', warn, isOutage: isLogOutage })
  return { ...serverLog(startWait), startWait, lines }
}

test('lets every call of a start wait while the log is unavailable, says so every 5 s, and completes it', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, lines } = waitingLog()
    state.fault = 'unavailable'
    const calls = Promise.all([
      store.readStream('s'),
      store.append('s', 'none', []),
      store.head(),
      store.closedReason(),
    ])
    await time.advance(21_000)
    assert.equal(
      lines,
      [5, 10, 15, 20].map((seconds) => `EventStoreDB does not respond yet; waiting (${seconds} of 30 s)`),
    )
    state.fault = undefined
    await time.advance(2 * AGAIN)
    assert.equal(await calls, [[], position(2n), position(1n), undefined])
    guarded.breaker.stop()
  }))

test('gives up after 30 s, or at once when the start ends', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, startWait } = waitingLog()
    state.fault = 'unavailable'
    const failure = failureOf(store.readStream('s'))
    await time.advance(30_000)
    const { name, message } = await failure
    assert.is(name, 'StoreUnavailable')
    assert.match(message, /^EventStoreDB did not respond for 30 s: EventStoreDB: not reachable/)
    const waiting = failureOf(store.readStream('s'))
    await time.advance(1_000)
    startWait.end()
    await time.advance(AGAIN)
    assert.instance(await waiting, StoreUnavailable)
    assert.instance(await failureOf(store.readStream('s')), StoreUnavailable)
    guarded.breaker.stop()
  }))

test('does not wait for a log that was moved, or that rejects the credentials', () =>
  withFakeTime(async (time) => {
    const { log, guarded, store, lines } = waitingLog()
    for (const refused of [
      new LogClosed({ why: 'fenced', to: 'elsewhere', copy: 'c' }),
      new StoreMisconfigured('EventStoreDB: access denied'),
    ]) {
      log.readStream = async () => Promise.reject(refused)
      assert.is(await failureOf(store.readStream('s')), refused)
    }
    await time.advance(AGAIN)
    assert.equal(lines, [])
    guarded.breaker.stop()
  }))

test('keeps the breaker closed when the log was moved or an append was rejected', () =>
  withFakeTime(async (time) => {
    const { log, store, isOpen } = serverLog()
    for (const refused of [
      new LogClosed({ why: 'fenced', to: 'elsewhere', copy: 'c' }),
      new StoreUnavailable('too busy'),
    ]) {
      log.append = async () => Promise.reject(refused)
      assert.is(await failureOf(store.append('s', 'none', [])), refused)
      const opened = isOpen()
      await time.advance(AGAIN)
      assert.is(await opened, false)
    }
    log.append = async () => Promise.reject(new OutcomeUnknown('lost'))
    await failureOf(store.append('s', 'none', []))
    const opened = isOpen()
    await time.advance(AGAIN)
    assert.is(await opened, false)
  }))

/** Makes an append whose outcome is unknown after `ms` milliseconds. */
async function appendLost({ log, store }: ReturnType<typeof serverLog>, time: FakeTime, ms: number): Promise<void> {
  const { append } = log
  log.append = async () => {
    await time.advance(ms)
    throw new OutcomeUnknown('no response')
  }
  assert.instance(await failureOf(store.append('s', 'none', [])), OutcomeUnknown)
  log.append = append
}

test('opens the append breaker after one append without a response for 1 s, and lets one append at a time try', () =>
  withFakeTime(async (time) => {
    const given = serverLog()
    const { log, store, guarded } = given
    await appendLost(given, time, 1_000)
    const refused = async () => {
      const failure = await failureOf(store.append('s', 'none', []))
      assert.equal(
        [failure.name, failure.message],
        ['StoreUnavailable', 'EventStoreDB: the log responds to reads but not to appends'],
      )
    }
    assert.equal(await store.readStream('s'), [])
    // The append breaker half-opens 500 ms after it opened.
    await time.advance(499)
    await refused()
    await time.advance(1)
    let respond: (stored: ReturnType<typeof position>) => void = () => {}
    log.append = () => new Promise((done) => (respond = done))
    const trying = store.append('s', 'none', [])
    assert.is(guarded.appendBreaker.state, 'half-open')
    await refused()
    respond(position(7n))
    assert.equal(await trying, position(7n))
    log.append = async () => position(8n)
    assert.equal(await store.append('s', 'none', []), position(8n))
    assert.equal([guarded.appendBreaker.openings, guarded.breaker.openings], [1, 0])
  }))

test('keeps the append breaker closed after an unknown outcome in less than 1 s', () =>
  withFakeTime(async (time) => {
    const given = serverLog()
    await appendLost(given, time, 999)
    assert.equal(await given.store.append('s', 'none', []), position(2n))
  }))

test.run()
