import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LogClosed, OutcomeUnknown, StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { guardLog } from '../../../src/stores/log/guarded-log.ts'
import { failureOf } from '../../failure-of.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'

const test = suite('a log behind circuit breakers')

/** Milliseconds after which a log that has answered nobody is away, and between two tries to reach it. */
const SILENCE = 3_000
const AGAIN = 250

const position = (commit: bigint) => ({ commit, prepare: commit })
const never = () => new Promise<never>(() => {})
/** A server's log, as far as it is asked here; it fails and hangs as it is told. */
function serverLog() {
  const state = { fault: undefined as 'away' | 'hangs' | undefined, asked: 0, lost: 0, head: 1n }
  const call = async <Answer>(answer: () => Answer): Promise<Answer> => {
    state.asked++
    if (state.fault === 'hangs') return never()
    if (state.fault === 'away' || state.lost-- > 0) throw new StoreUnavailable('EventStoreDB: not reachable')
    return answer()
  }
  const log: Record<string, unknown> & Pick<EventStore, 'read' | 'append'> & { heardAt?: () => number } = {
    isAppendManyAtomic: false,
    fenceDelayMs: 0,
    head: () => call(() => position(state.head)),
    read: () => call(() => []),
    append: () => call(() => position(++state.head)),
    closedReason: () => call(() => undefined),
    identity: async () => 'known here',
    async *readAll() {
      yield await call(() => ({ type: 'SomethingHappened' }))
      yield await call(() => ({ type: 'SomethingHappened' }))
    },
  }
  const guarded = guardLog(log as unknown as EventStore, 'EventStoreDB')
  const isAway = async () => (await guarded.breaker.settledState()) !== 'closed'
  return { state, log, guarded, store: guarded.store, isAway }
}

test('fails at once while it is away, without being asked, and is asked again when it is back', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, isAway } = serverLog()
    await store.read('s')
    state.fault = 'away'
    await failureOf(store.read('s'))
    const away = isAway()
    await time.pass(AGAIN)
    assert.is(await away, true)
    state.fault = 'hangs'
    assert.instance(await failureOf(store.read('s')), StoreUnavailable)
    assert.instance(await failureOf(store.append('s', 'none', [])), StoreUnavailable)
    guarded.breaker.stop()

    const other = serverLog()
    other.state.fault = 'away'
    await failureOf(other.store.read('s'))
    const otherAway = other.isAway()
    await time.pass(AGAIN)
    assert.is(await otherAway, true)
    other.state.fault = undefined
    await time.pass(AGAIN)
    assert.is(await other.isAway(), false)
    assert.equal(await other.store.read('s'), [])
  }))

test('gives up whoever waits when it has answered nobody for 3 s, an append as one that may be stored', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store, isAway } = serverLog()
    await store.read('s')
    const answeredAt = guarded.breaker.answeredAt
    state.fault = 'hangs'
    const events = store.readAll('start')[Symbol.asyncIterator]()
    let given = 0
    const waiting = [store.read('s'), store.append('s', 'none', []), store.head(), events.next()].map(async (work) => {
      const left = await failureOf(work as Promise<unknown>)
      given++
      return left
    })
    await time.pass(SILENCE - 1)
    assert.is(given, 0)
    await time.pass(1)
    const faults = await Promise.all(waiting)
    assert.equal(
      faults.map(({ name }) => name),
      ['StoreUnavailable', 'OutcomeUnknown', 'StoreUnavailable', 'StoreUnavailable'],
    )
    assert.match(faults[0]?.message ?? '', /^EventStoreDB: /)
    // What is known in this process says nothing about the log.
    assert.is(await store.identity(), 'known here')
    assert.is(await isAway(), true)
    assert.is(guarded.breaker.answeredAt, answeredAt)
    guarded.breaker.stop()
  }))

test('is not away for one call that takes long while others are answered', () =>
  withFakeTime(async (time) => {
    const { log, store, isAway } = serverLog()
    let answer: (events: never[]) => void = () => {}
    log.read = () => new Promise<never[]>((done) => (answer = done))
    const long = store.read('s')
    await time.pass(2 * SILENCE)
    assert.is(await isAway(), false)
    answer([])
    assert.equal(await long, [])
  }))

test('is not away for an answer of which something comes now and then', () =>
  withFakeTime(async (time) => {
    const { state, log, guarded, store, isAway } = serverLog()
    state.fault = 'hangs'
    log.heardAt = () => performance.now()
    const left = failureOf(Promise.resolve(store.head()))
    await time.pass(2 * SILENCE)
    assert.is(await isAway(), false)
    log.heardAt = () => 0
    await time.pass(2 * SILENCE)
    await left
    assert.is(await isAway(), true)
    guarded.breaker.stop()
  }))

test('tells its head where only a connection was lost, and knows the newest position', () =>
  withFakeTime(async (time) => {
    const { state, guarded, store } = serverLog()
    state.lost = 2
    const head = store.head()
    await time.pass(AGAIN)
    assert.equal(await head, position(1n))
    assert.equal(await store.append('s', 'none', []), position(2n))
    assert.equal(guarded.newestPosition(), position(2n))
  }))

test('is not away because it was moved, or an append was refused', () =>
  withFakeTime(async (time) => {
    const { log, store, isAway } = serverLog()
    for (const refused of [
      new LogClosed({ why: 'fenced', to: 'elsewhere', copy: 'c' }),
      new StoreUnavailable('too busy'),
    ]) {
      log.append = async () => Promise.reject(refused)
      assert.is(await failureOf(store.append('s', 'none', [])), refused)
      const away = isAway()
      await time.pass(AGAIN)
      assert.is(await away, false)
    }
    log.append = async () => Promise.reject(new OutcomeUnknown('lost'))
    await failureOf(store.append('s', 'none', []))
    const away = isAway()
    await time.pass(AGAIN)
    assert.is(await away, false)
  }))

/** An append that meets no answer for so many milliseconds. */
async function appendLost({ log, store }: ReturnType<typeof serverLog>, time: FakeTime, ms: number): Promise<void> {
  const { append } = log
  log.append = async () => {
    await time.pass(ms)
    throw new OutcomeUnknown('no answer')
  }
  assert.instance(await failureOf(store.append('s', 'none', [])), OutcomeUnknown)
  log.append = append
}

test('that answers reads and no appends refuses appends at once behind one that had no answer for a second, but for one at a time that tries', () =>
  withFakeTime(async (time) => {
    const given = serverLog()
    const { log, store, guarded } = given
    await appendLost(given, time, 1_000)
    const refused = async () => {
      const left = await failureOf(store.append('s', 'none', []))
      assert.equal(
        [left.name, left.message],
        ['StoreUnavailable', 'EventStoreDB: the log responds to reads but not to appends'],
      )
    }
    assert.equal(await store.read('s'), [])
    // Who waited for that one in a queue has not waited twice.
    await time.pass(499)
    await refused()
    await time.pass(1)
    let answer: (told: ReturnType<typeof position>) => void = () => {}
    log.append = () => new Promise((done) => (answer = done))
    const trying = store.append('s', 'none', [])
    assert.is(guarded.appendBreaker.state, 'half-open')
    await refused()
    answer(position(7n))
    assert.equal(await trying, position(7n))
    log.append = async () => position(8n)
    assert.equal(await store.append('s', 'none', []), position(8n))
    assert.equal([guarded.appendBreaker.openings, guarded.breaker.openings], [1, 0])
  }))

test('goes on taking appends behind one whose outcome is unknown for another reason', () =>
  withFakeTime(async (time) => {
    const given = serverLog()
    await appendLost(given, time, 999)
    assert.equal(await given.store.append('s', 'none', []), position(2n))
  }))

test.run()
