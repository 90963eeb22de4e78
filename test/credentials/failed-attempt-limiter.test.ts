import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FailedAttemptLimiter, networkOf, FailureWindows } from '../../src/credentials/failed-attempt-limiter.ts'
import { RequestError } from '../../src/domain/decider.ts'

const test = suite('guessing')

const isStopped = (error: unknown) => error instanceof RequestError && error.kind === 'too-many'
const outcome = (attempt: Promise<boolean>) =>
  attempt.then(
    (right) => (right ? 'right' : 'wrong'),
    (error: unknown) => (isStopped(error) ? 'stopped' : String(error)),
  )
const guess = (subject: number | string, address: string) => ({ subject, address, familiar: false })
const ANN = 1
const BOB = 2

test('stops at the 6th failure about one account from one address', async () => {
  const limits = new FailedAttemptLimiter(() => 0)
  const outcomes: string[] = []
  for (let count = 1; count <= 7; count++) {
    outcomes.push(await outcome(limits.attempt(guess(ANN, '192.0.2.1'), async () => false)))
  }
  assert.equal(outcomes, ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'stopped', 'stopped'])
  assert.is(await outcome(limits.attempt(guess(BOB, '192.0.2.1'), async () => true)), 'right')
  assert.is(await outcome(limits.attempt(guess(ANN, '192.0.2.2'), async () => true)), 'right')
})

test('stops at the 50th wrong secret from one address', () => {
  const limits = new FailedAttemptLimiter(() => 0)
  for (let count = 1; count <= 49; count++) limits.recordWrongCredential('client secret', '192.0.2.1')
  assert.throws(() => limits.recordWrongCredential('client secret', '192.0.2.1'), isStopped)
  limits.recordWrongCredential('client secret', '192.0.2.2')
  limits.recordWrongCredential('API token', '192.0.2.1')
})

test('gets no further in parallel, and right log-ins in parallel all pass', async () => {
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

test('is possible again as failures grow 10 minutes old, and Retry-After says when', async () => {
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

test('is remembered of whoever failed lately, however many others come', () => {
  let now = 0
  const tracks = new FailureWindows({ maxFailures: 5, maxKeys: 3, evictsOldest: false }, () => now)
  const fail = (key: string) => {
    const track = tracks.windowOf(key)
    return track !== undefined && tracks.recordFailure(track)
  }
  for (const key of ['a', 'b', 'c', 'd', 'e']) fail(key)
  assert.is(tracks.windowOf('a')?.failures.length, 1)
  assert.is(tracks.windowOf('d'), undefined)
  now = 600_000
  fail('d')
  assert.is(tracks.windowOf('d')?.failures.length, 1)
  assert.ok(tracks.windowOf('e'), 'those of ten minutes ago take places')
})

test('takes a place only while it is under way where nothing failed', () => {
  const tracks = new FailureWindows({ maxFailures: 5, maxKeys: 1, evictsOldest: false }, () => 0)
  const track = tracks.windowOf('a')
  if (track === undefined) return assert.unreachable('there is a place')
  assert.ok(tracks.windowOf('b'), 'a place is taken by what has not begun')
  tracks.beginAttempt(track)
  assert.is(tracks.windowOf('b'), undefined)
  tracks.endAttempt(track)
  assert.ok(tracks.windowOf('b'))
})

test('counts an IPv6 network of 64 bits as one address', () => {
  assert.is(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.is(networkOf('2001:DB8:0:0:1:2:3:4'), '2001:db8:0:0::/64')
  assert.is(networkOf('2001:0db8:0000:0001::'), '2001:db8:0:1::/64')
  assert.is(networkOf('::1'), '0:0:0:0::/64')
  assert.is(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.is(networkOf('192.0.2.1'), '192.0.2.1')
})

test.run()
