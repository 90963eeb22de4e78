import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FailedAttemptLimiter, networkOf, FailureWindows } from '../../src/credentials/failed-attempt-limiter.ts'
import { RequestError } from '../../src/domain/request-error.ts'

const test = suite('the limit of failed attempts')

const isStopped = (error: unknown) => error instanceof RequestError && error.kind === 'too-many'
const outcome = (attempt: Promise<boolean>) =>
  attempt.then(
    (right) => (right ? 'right' : 'wrong'),
    (error: unknown) => (isStopped(error) ? 'stopped' : String(error)),
  )
const guess = (subject: number | string, address: string) => ({ subject, address, familiar: false })
const ANN = 1
const BOB = 2

test('rejects after 5 failures for one account from one address', async () => {
  const limits = new FailedAttemptLimiter(() => 0)
  const outcomes: string[] = []
  for (let count = 1; count <= 7; count++) {
    outcomes.push(await outcome(limits.attempt(guess(ANN, '192.0.2.1'), async () => false)))
  }
  assert.equal(outcomes, ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'stopped', 'stopped'])
  assert.is(await outcome(limits.attempt(guess(BOB, '192.0.2.1'), async () => true)), 'right')
  assert.is(await outcome(limits.attempt(guess(ANN, '192.0.2.2'), async () => true)), 'right')
})

test('rejects the 50th wrong credential from one address', () => {
  const limits = new FailedAttemptLimiter(() => 0)
  for (let count = 1; count <= 49; count++) limits.recordWrongCredential('client secret', '192.0.2.1')
  assert.throws(() => limits.recordWrongCredential('client secret', '192.0.2.1'), isStopped)
  limits.recordWrongCredential('client secret', '192.0.2.2')
  limits.recordWrongCredential('API token', '192.0.2.1')
})

test('holds for concurrent attempts, and concurrent valid log-ins all pass', async () => {
  const limits = new FailedAttemptLimiter(() => 0)
  let checked = 0
  const check = async (right: boolean) => {
    await new Promise((done) => setImmediate(done))
    checked++
    return right
  }
  const wrong = Array.from({ length: 40 }, () => outcome(limits.attempt(guess(ANN, 'a'), () => check(false))))
  assert.is((await Promise.all(wrong)).filter((one) => one === 'stopped').length, 35)
  assert.is(checked, 5)
  const right = Array.from({ length: 40 }, () => outcome(limits.attempt(guess(BOB, 'b'), () => check(true))))
  assert.ok((await Promise.all(right)).every((one) => one === 'right'))
})

test('forgets failures after 10 minutes, and Retry-After says when', async () => {
  let now = 0
  const limits = new FailedAttemptLimiter(() => now)
  const fail = () => limits.attempt(guess(ANN, 'a'), async () => false)
  for (now = 0; now < 5000; now += 1000) await fail()
  try {
    await fail()
    assert.unreachable('it was not stopped')
  } catch (error) {
    assert.ok(error instanceof RequestError)
    assert.is(error.retryAfter, 595)
  }
  now = 600_000
  assert.is(await outcome(fail()), 'wrong')
  assert.is(await outcome(fail()), 'stopped')
})

test('keeps the failures of the last 10 minutes when the maximum number of keys is reached', () => {
  let now = 0
  const windows = new FailureWindows({ maxFailures: 5, maxKeys: 3, evictsOldest: false }, () => now)
  const fail = (key: string) => {
    const window = windows.windowOf(key)
    return window !== undefined && windows.recordFailure(window)
  }
  for (const key of ['a', 'b', 'c', 'd', 'e']) fail(key)
  assert.is(windows.windowOf('a')?.failures.length, 1)
  assert.is(windows.windowOf('d'), undefined)
  now = 600_000
  fail('d')
  assert.is(windows.windowOf('d')?.failures.length, 1)
  assert.ok(windows.windowOf('e'), 'a key that failed ten minutes ago can be evicted')
})

test('tracks a key without failures only during an attempt', () => {
  const windows = new FailureWindows({ maxFailures: 5, maxKeys: 1, evictsOldest: false }, () => 0)
  const window = windows.windowOf('a')
  if (window === undefined) return assert.unreachable('no window was available')
  assert.ok(windows.windowOf('b'), 'an attempt that has not begun takes up a window')
  windows.beginAttempt(window)
  assert.is(windows.windowOf('b'), undefined)
  windows.endAttempt(window)
  assert.ok(windows.windowOf('b'))
})

test('counts an IPv6 /64 network as one address', () => {
  assert.is(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.is(networkOf('2001:DB8:0:0:1:2:3:4'), '2001:db8:0:0::/64')
  assert.is(networkOf('2001:0db8:0000:0001::'), '2001:db8:0:1::/64')
  assert.is(networkOf('::1'), '0:0:0:0::/64')
  assert.is(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.is(networkOf('192.0.2.1'), '192.0.2.1')
})

test.run()
