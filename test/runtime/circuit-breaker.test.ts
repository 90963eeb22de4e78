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

/** Asks no store: its next call is the trial. */
const withoutProbe = () => new CircuitBreaker(policy)

/** Of a store that is asked whether it is there, and answers, fails or hangs as it is told. */
function withProbe() {
  const state = { store: 'answers' as 'answers' | 'fails' | 'hangs', probes: 0, heardAt: Number.NEGATIVE_INFINITY }
  const ask = async () => {
    state.probes++
    if (state.store === 'hangs') await never()
    if (state.store === 'fails') throw new Down('no head')
  }
  const probe = { ask, heardAt: () => state.heardAt, noResponseMessage: 'nothing came' }
  return { state, breaker: new CircuitBreaker({ ...policy, probe }) }
}

const never = () => new Promise<never>(() => {})
const answer = async () => 'answer'
const failing = (error: Error) => async (): Promise<string> => {
  throw error
}

/** A call whose end is told to it. */
function pending() {
  let end: (told: Promise<string>) => void = () => {}
  const ended = new Promise<string>((done) => (end = done))
  return { work: () => ended, answer: () => end(answer()), fail: (error: Error) => end(failing(error)()) }
}

test('lets calls through while it is closed, and refuses them at once while it is open', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    assert.is(await breaker.call(answer), 'answer')
    assert.is(breaker.state, 'closed')
    const down = new Down('no answer')
    assert.is(await failureOf(breaker.call(failing(down))), down)
    assert.is(breaker.state, 'open')
    await time.pass(RESET - 1)
    let calls = 0
    const refused = await failureOf(breaker.call(async () => calls++))
    assert.instance(refused, Refused)
    assert.equal([refused.message, calls, breaker.openings], ['no answer', 0, 1])
  }))

test('stays closed for failures that say nothing of the store', async () => {
  const breaker = withoutProbe()
  await failureOf(breaker.call(failing(new Error('a lost race'))))
  assert.equal([breaker.state, breaker.openings], ['closed', 0])
})

test('is half-open for one trial at a time, and closed by one that succeeds', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    await failureOf(breaker.call(failing(new Down())))
    await time.pass(RESET)
    const trial = pending()
    const trying = breaker.call(trial.work)
    assert.is(breaker.state, 'half-open')
    assert.instance(await failureOf(breaker.call(answer)), Refused)
    trial.answer()
    assert.equal([await trying, breaker.state], ['answer', 'closed'])
    assert.is(await breaker.call(answer), 'answer')
  }))

test('waits as long again for the next trial behind one that fails, for whatever reason', () =>
  withFakeTime(async (time) => {
    const breaker = withoutProbe()
    await failureOf(breaker.call(failing(new Down())))
    for (const error of [new Down(), new Error('nothing of the store')]) {
      await time.pass(RESET)
      const trial = pending()
      const trying = failureOf(breaker.call(trial.work))
      await time.pass(RESET)
      trial.fail(error)
      assert.is(await trying, error)
      await time.pass(RESET - 1)
      assert.instance(await failureOf(breaker.call(answer)), Refused)
      await time.pass(1)
      assert.is(breaker.state, 'open')
    }
    assert.is(await breaker.call(answer), 'answer')
    assert.is(breaker.openings, 1)
  }))

test('is closed by a late answer to a call from before it opened', async () => {
  const breaker = withoutProbe()
  const late = pending()
  const waiting = breaker.call(late.work)
  await failureOf(breaker.call(failing(new Down())))
  late.answer()
  assert.equal([await waiting, breaker.state], ['answer', 'closed'])
})

test('has the store probed behind a doubtful failure, three times, and opens when it fails each time', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    await failureOf(breaker.call(failing(new Doubtful())))
    assert.equal([await breaker.settledState(), state.probes], ['closed', 1])
    state.store = 'fails'
    await failureOf(breaker.call(failing(new Doubtful())))
    const settled = breaker.settledState()
    await time.pass(100)
    assert.equal([await settled, state.probes], ['open', 4])
    breaker.stop()
  }))

test('opens when nothing has come for 3 s, tells whoever waits, and closes when a probe is answered', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'hangs'
    const abandoned = (reason: Error) => new Down(`given up: ${reason.message}`)
    const waiting = [failureOf(breaker.call(never)), failureOf(breaker.call(never, abandoned))]
    await time.pass(999)
    assert.is(state.probes, 0)
    await time.pass(2_000)
    assert.equal([breaker.state, state.probes], ['closed', 1])
    await time.pass(1)
    const told = (await Promise.all(waiting)).map(({ message }) => message)
    assert.equal(told, ['nothing came', 'given up: nothing came'])
    assert.is(breaker.state, 'open')
    await time.pass(RESET)
    assert.is(breaker.state, 'half-open')
    breaker.stop()

    const other = withProbe()
    other.state.store = 'fails'
    await failureOf(other.breaker.call(failing(new Doubtful())))
    await time.pass(100)
    assert.is(other.breaker.state, 'open')
    other.state.store = 'answers'
    await time.pass(RESET)
    assert.equal([other.breaker.state, await other.breaker.call(answer)], ['closed', 'answer'])
  }))

test('is closed by a late answer to a call that was given up, and probed by one alone when it opens again', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'fails'
    const late = pending()
    const given = failureOf(breaker.call(late.work))
    for (let times = 1; times <= 2; times++) {
      await failureOf(breaker.call(failing(new Doubtful())))
      await time.pass(100)
      assert.equal([breaker.state, breaker.openings], ['open', times])
      assert.instance(await given, Refused)
      if (times === 1) {
        late.answer()
        await time.pass(0)
        assert.is(breaker.state, 'closed')
      }
    }
    const { probes } = state
    await time.pass(4 * RESET)
    assert.is(state.probes, probes + 4)
    breaker.stop()
  }))

test('is no more open for a process that stood still itself, and has missed no answer', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    state.store = 'hangs'
    const call = pending()
    const waiting = breaker.call(call.work)
    for (let times = 0; times < 3; times++) time.standStill(60_000)
    assert.equal([breaker.state, state.probes], ['closed', 0])
    call.answer()
    assert.is(await waiting, 'answer')
  }))

test('knows when the store last answered, and goes by no answer while it is open', () =>
  withFakeTime(async (time) => {
    const { state, breaker } = withProbe()
    const { answeredAt: made } = breaker
    await time.pass(700)
    await breaker.call(answer)
    const { answeredAt } = breaker
    assert.is(answeredAt, made + 700)
    state.store = 'fails'
    await failureOf(breaker.call(failing(new Doubtful())))
    await time.pass(5_000)
    assert.equal([breaker.state, breaker.answeredAt], ['open', answeredAt])
    breaker.stop()
  }))

test.run()
