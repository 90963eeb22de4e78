import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { GuessLimits } from '../../src/credentials/guess-limits.ts'
import { networkOf } from '../../src/credentials/network.ts'
import { Refusal } from '../../src/domain/refusal.ts'

const test = suite('guessing')

const isStopped = (error: unknown) => error instanceof Refusal && error.kind === 'too-many'
const outcome = (attempt: Promise<boolean>) =>
  attempt.then(
    (right) => (right ? 'right' : 'wrong'),
    (error: unknown) => (isStopped(error) ? 'stopped' : String(error)),
  )

test('stops at the 6th failure about one account, whatever the address', async () => {
  const limits = new GuessLimits(() => 0)
  const outcomes: string[] = []
  for (let count = 1; count <= 7; count++) {
    outcomes.push(await outcome(limits.attempt({ subject: 'ann', address: `192.0.2.${count}` }, async () => false)))
  }
  assert.equal(outcomes, ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'stopped', 'stopped'])
  assert.is(await outcome(limits.attempt({ subject: 'bob', address: '192.0.2.1' }, async () => true)), 'right')
})

test('stops at the 50th failure from one address, whatever the account', async () => {
  const limits = new GuessLimits(() => 0)
  for (let count = 1; count <= 49; count++) limits.wrong({ subject: `user ${count}`, address: '192.0.2.1' })
  assert.throws(() => limits.wrong({ subject: 'user 50', address: '192.0.2.1' }), isStopped)
  limits.wrong({ subject: 'user 50', address: '192.0.2.2' })
})

test('gets no further in parallel, and right log-ins in parallel all pass', async () => {
  const limits = new GuessLimits(() => 0)
  let checked = 0
  const guess = async (right: boolean) => {
    await new Promise((done) => setImmediate(done))
    checked++
    return right
  }
  const wrong = Array.from({ length: 40 }, () =>
    outcome(limits.attempt({ subject: 'ann', address: 'a' }, () => guess(false))),
  )
  assert.is((await Promise.all(wrong)).filter((one) => one === 'stopped').length, 35)
  assert.is(checked, 5)
  const right = Array.from({ length: 40 }, () =>
    outcome(limits.attempt({ subject: 'bob', address: 'b' }, () => guess(true))),
  )
  assert.ok((await Promise.all(right)).every((one) => one === 'right'))
})

test('is possible again as failures grow 10 minutes old, and Retry-After says when', async () => {
  let now = 0
  const limits = new GuessLimits(() => now)
  for (now = 0; now < 5000; now += 1000) limits.wrong({ subject: 'ann', address: 'a' })
  try {
    limits.wrong({ subject: 'ann', address: 'a' })
    assert.unreachable('it was not stopped')
  } catch (error) {
    assert.ok(error instanceof Refusal)
    assert.is(error.retryAfter, 595)
  }
  now = 600_000
  limits.wrong({ subject: 'ann', address: 'a' })
  assert.throws(() => limits.wrong({ subject: 'ann', address: 'a' }), isStopped)
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
