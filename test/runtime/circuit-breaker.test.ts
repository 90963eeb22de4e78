import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CircuitBreaker, type BreakerPolicy } from '../../src/runtime/circuit-breaker.ts'
import { failureOf } from '../failure-of.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('a circuit breaker')

const RESET = 500

class Refused extends Error {}
class Down extends Error {}
class Doubtful extends Error {}

const policy: BreakerPolicy = {
  store: 'a store',
  calls: 'all',
  resetTimeoutMs: RESET,
  verdict: (error) => (error instanceof Down ? 'down' : error instanceof Doubtful ? 'doubtful' : 'nothing'),
  refusal: ({ message }) => new Refused(message),
}

/** A breaker without a probe: the next call is the trial. */
const withoutProbe = () => new CircuitBreaker(policy)

/** A breaker with a probe of a store that responds, fails or hangs, as set in `state.store`. */
function withProbe() {
  const state = { store: 'answers' as 'answers' | 'fails' | 'hangs', probes: 0, heardAt: Number.NEGATIVE_INFINITY }
  const ask = async () => {
    state.probes++
    if (state.store === 'hangs') await never()
    if (state.store === 'fails') throw new Down('the store failed')
  }
  const probe = { ask, heardAt: () => state.heardAt, noResponseMessage: 'no response' }
  return { state, breaker: new CircuitBreaker({ ...policy, probe }) }
}

const never = () => new Promise<never>(() => {})
const respond = async () => 'answer'
const failing = (error: Error) => async (): Promise<string> => {
  throw error
}

/** A call that the test ends. */
function pending() {
  let end: (outcome: Promise<string>) => void = () => {}
  const ended = new Promise<string>((done) => (end = done))
  return { work: () => ended, respond: () => end(respond()), fail: (error: Error) => end(failing(error)()) }
}

test('lets calls through while it is closed, and refuses them at once while it is open', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    assert.is(await breaker.call(respond), 'answer')
    assert.is(breaker.state, 'closed')
    const down = new Down('not reachable')
    assert.is(await failureOf(breaker.call(failing(down))), down)
    assert.is(breaker.state, 'open')
    await time.advance(RESET - 1)
    let calls = 0
    const refused = await failureOf(breaker.call(async () => calls++))
    assert.instance(refused, Refused)
    assert.equal([refused.message, calls, breaker.openings], ['not reachable', 0, 1])
  }))

test('stays closed after failures that do not concern the store', async () => {
  const breaker = withoutProbe()
  await failureOf(breaker.call(failing(new Error('a lost race'))))
  assert.equal([breaker.state, breaker.openings], ['closed', 0])
})

test('is half-open for one trial at a time, and closes when the trial succeeds', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    await failureOf(breaker.call(failing(new Down())))
    await time.advance(RESET)
    const trial = pending()
    const trying = breaker.call(trial.work)
    assert.is(breaker.state, 'half-open')
    assert.instance(await failureOf(breaker.call(respond)), Refused)
    trial.respond()
    assert.equal([await trying, breaker.state], ['answer', 'closed'])
    assert.is(await breaker.call(respond), 'answer')
  }))

test('waits for the reset timeout again after a trial that fails for any reason', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    await failureOf(breaker.call(failing(new Down())))
    for (const error of [new Down(), new Error('not caused by the store')]) {
      await time.advance(RESET)
      const trial = pending()
      const trying = failureOf(breaker.call(trial.work))
      await time.advance(RESET)
      trial.fail(error)
      assert.is(await trying, error)
      await time.advance(RESET - 1)
      assert.instance(await failureOf(breaker.call(respond)), Refused)
      await time.advance(1)
      assert.is(breaker.state, 'open')
    }
    assert.is(await breaker.call(respond), 'answer')
    assert.is(breaker.openings, 1)
  }))

test('closes when a call from before it opened gets a late response', async () => {
  const breaker = withoutProbe()
  const late = pending()
  const waiting = breaker.call(late.work)
  await failureOf(breaker.call(failing(new Down())))
  late.respond()
  assert.equal([await waiting, breaker.state], ['answer', 'closed'])
})

test('probes the store after a doubtful failure, and opens when three probes fail', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    await failureOf(breaker.call(failing(new Doubtful())))
    assert.equal([await breaker.settledState(), state.probes], ['closed', 1])
    state.store = 'fails'
    await failureOf(breaker.call(failing(new Doubtful())))
    const settled = breaker.settledState()
    await time.advance(100)
    assert.equal([await settled, state.probes], ['open', 4])
    breaker.stop()
  }))

test('opens after 3 s without a response, rejects the waiting calls, and closes when a probe succeeds', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'hangs'
    const abandoned = (reason: Error) => new Down(`given up: ${reason.message}`)
    const waiting = [failureOf(breaker.call(never)), failureOf(breaker.call(never, abandoned))]
    await time.advance(999)
    assert.is(state.probes, 0)
    await time.advance(2_000)
    assert.equal([breaker.state, state.probes], ['closed', 1])
    await time.advance(1)
    const messages = (await Promise.all(waiting)).map(({ message }) => message)
    assert.equal(messages, ['no response', 'given up: no response'])
    assert.is(breaker.state, 'open')
    await time.advance(RESET)
    assert.is(breaker.state, 'half-open')
    breaker.stop()

    const other = withProbe()
    other.state.store = 'fails'
    await failureOf(other.breaker.call(failing(new Doubtful())))
    await time.advance(100)
    assert.is(other.breaker.state, 'open')
    other.state.store = 'answers'
    await time.advance(RESET)
    assert.equal([other.breaker.state, await other.breaker.call(respond)], ['closed', 'answer'])
  }))

test('closes when an abandoned call gets a late response, and runs one probe at a time when it opens again', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'fails'
    const late = pending()
    const given = failureOf(breaker.call(late.work))
    for (let times = 1; times <= 2; times++) {
      await failureOf(breaker.call(failing(new Doubtful())))
      await time.advance(100)
      assert.equal([breaker.state, breaker.openings], ['open', times])
      assert.instance(await given, Refused)
      if (times === 1) {
        late.respond()
        await time.advance(0)
        assert.is(breaker.state, 'closed')
      }
    }
    const { probes } = state
    await time.advance(4 * RESET)
    assert.is(state.probes, probes + 4)
    breaker.stop()
  }))

test('does not open when the process itself was suspended', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'hangs'
    const call = pending()
    const waiting = breaker.call(call.work)
    for (let times = 0; times < 3; times++) time.suspend(60_000)
    assert.equal([breaker.state, state.probes], ['closed', 0])
    call.respond()
    assert.is(await waiting, 'answer')
  }))

test('reports the time of the last response, which does not change while it is open', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    const { answeredAt: made } = breaker
    await time.advance(700)
    await breaker.call(respond)
    const { answeredAt } = breaker
    assert.is(answeredAt, made + 700)
    state.store = 'fails'
    await failureOf(breaker.call(failing(new Doubtful())))
    await time.advance(5_000)
    assert.equal([breaker.state, breaker.answeredAt], ['open', answeredAt])
    breaker.stop()
  }))

test.run()
