import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LogClosed, OutcomeUnknown, StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { WatchedLog } from '../../../src/stores/log/watched-log.ts'
import { pause } from '../../until.ts'

const test = suite('a log that is watched')

/** Milliseconds between two looks: twelve of them find a silence. */
const LOOKS = { every: 10, again: 10 }
const SILENCE = 12 * LOOKS.every

// Nothing of a watched log keeps a process.
let kept: NodeJS.Timeout
test.before(() => void (kept = setInterval(() => {}, 1_000)))
test.after(() => clearInterval(kept))

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
    atomicMany: false,
    fenceDelay: 0,
    head: () => call(() => position(state.head)),
    read: () => call(() => []),
    append: () => call(() => position(++state.head)),
    closed: () => call(() => undefined),
    identity: async () => 'known here',
    async *readAll() {
      yield await call(() => ({ type: 'SomethingHappened' }))
      yield await call(() => ({ type: 'SomethingHappened' }))
    },
  }
  const watched = new WatchedLog(log as unknown as EventStore, 'EventStoreDB', LOOKS)
  return { state, log, watched, store: watched.store }
}

async function fault(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(LOOKS.every)
}

test('fails at once while it is away, without being asked, and is asked again when it is back', async () => {
  const { state, watched, store } = serverLog()
  await store.read('s')
  state.fault = 'away'
  await fault(store.read('s'))
  assert.is(await watched.isAway(), true)
  state.fault = 'hangs'
  assert.instance(await fault(store.read('s')), StoreUnavailable)
  assert.instance(await fault(store.append('s', 'none', [])), StoreUnavailable)
  watched.stop()

  const other = serverLog()
  other.state.fault = 'away'
  await fault(other.store.read('s'))
  assert.is(await other.watched.isAway(), true)
  other.state.fault = undefined
  await until(async () => !(await other.watched.isAway()))
  assert.equal(await other.store.read('s'), [])
})

test('gives up whoever waits when it has answered nobody for a while, an append as one that may be stored', async () => {
  const { state, watched, store } = serverLog()
  await store.read('s')
  const answeredAt = watched.answeredAt
  state.fault = 'hangs'
  const events = store.readAll('start')[Symbol.asyncIterator]()
  const faults = await Promise.all(
    [store.read('s'), store.append('s', 'none', []), store.head(), events.next()].map((work) =>
      fault(work as Promise<unknown>),
    ),
  )
  assert.equal(
    faults.map(({ name }) => name),
    ['StoreUnavailable', 'OutcomeUnknown', 'StoreUnavailable', 'StoreUnavailable'],
  )
  assert.match(faults[0]?.message ?? '', /^EventStoreDB: /)
  // What is known in this process says nothing about the log.
  assert.is(await store.identity(), 'known here')
  assert.is(await watched.isAway(), true)
  assert.is(watched.answeredAt, answeredAt)
  watched.stop()
})

test('is not away for one call that takes long while others are answered', async () => {
  const { log, watched, store } = serverLog()
  let answer: (events: never[]) => void = () => {}
  log.read = () => new Promise<never[]>((done) => (answer = done))
  const long = store.read('s')
  await pause(2 * SILENCE)
  assert.is(await watched.isAway(), false)
  answer([])
  assert.equal(await long, [])
})

test('is not away for an answer of which something comes now and then', async () => {
  const { state, log, watched, store } = serverLog()
  state.fault = 'hangs'
  log.heardAt = () => performance.now()
  const head = store.head()
  await pause(2 * SILENCE)
  assert.is(await watched.isAway(), false)
  log.heardAt = () => 0
  await fault(Promise.resolve(head))
  assert.is(await watched.isAway(), true)
  watched.stop()
})

test('tells its head where only a connection was lost, and knows the newest position', async () => {
  const { state, watched, store } = serverLog()
  state.lost = 2
  assert.equal(await store.head(), position(1n))
  assert.equal(await store.append('s', 'none', []), position(2n))
  assert.equal(watched.newest, position(2n))
})

test('is not away because it was moved, or an append was refused', async () => {
  const { log, watched, store } = serverLog()
  for (const refused of [
    new LogClosed({ why: 'fenced', to: 'elsewhere', copy: 'c' }),
    new StoreUnavailable('too busy'),
  ]) {
    log.append = async () => Promise.reject(refused)
    assert.is(await fault(store.append('s', 'none', [])), refused)
    assert.is(await watched.isAway(), false)
  }
  log.append = async () => Promise.reject(new OutcomeUnknown('lost'))
  await fault(store.append('s', 'none', []))
  assert.is(await watched.isAway(), false)
})

test.run()
