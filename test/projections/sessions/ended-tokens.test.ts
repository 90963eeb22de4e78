import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RevokedTokens } from '../../../src/projections/sessions/token-revocations.ts'

const test = suite('tokens that were ended')

/** Seconds that a token lives. */
const TTL = 100
const token = { account: 7, accountEpoch: 0, client: '1_x', clientEpoch: 0, session: 's', number: 3 }
const metadata = { at: new Date(1000).toISOString() }
const revoked = { type: 'SessionRevoked', data: { at: 1000 }, metadata }

/** What each of these events ends, and what it leaves. */
const ENDS = [
  [{ stream: 'session-s', type: 'SessionRevoked', data: {} }, { session: 't' }],
  [{ stream: 'session-s', type: 'AccessTokenRevoked', data: { number: 3 } }, { number: 4 }],
  [{ stream: 'account-7', type: 'PasswordChanged', data: { epoch: 1 } }, { accountEpoch: 1 }],
  [{ stream: 'account-7', type: 'AccountDisabled', data: { epoch: 1 } }, { account: 8 }],
  [{ stream: 'client-1_x', type: 'ClientDisabled', data: { epoch: 1 } }, { client: '2_x' }],
] as const

for (const [event, left] of ENDS) {
  test(`are those that ${event.type} names, and no others`, () => {
    const tokens = new RevokedTokens(TTL)
    assert.is(tokens.isLive(token), true)
    tokens.applyEvent({ ...event, metadata })
    assert.equal([tokens.isLive(token), tokens.isLive({ ...token, ...left })], [false, true])
  })
}

test('are forgotten once they have expired, and not before', () => {
  let passed = 0
  const ended = new RevokedTokens(TTL, () => passed)
  ended.applyEvent({ ...revoked, stream: 'session-s' })
  ended.applyEvent({ ...revoked, stream: 'session-t', metadata: { at: new Date(2000).toISOString() } })
  const forgetAt = (time: number) => {
    passed = time
    ended.removeExpired(time)
  }
  forgetAt(1000)
  forgetAt(1000 + TTL * 1000)
  assert.is(ended.isLive(token), false)
  forgetAt(1000 + TTL * 1000 + 600_000)
  assert.equal([ended.isLive(token), ended.isLive({ ...token, session: 't' })], [true, false])
})

const DAYS_30 = 30 * 86_400_000

for (const [when, start] of [
  ['while it runs', 0],
  ['when it starts', DAYS_30],
] as const) {
  test(`are kept though the clock is 30 days ahead for a minute, ${when}`, () => {
    let passed = 0
    const ended = new RevokedTokens(TTL, () => passed)
    ended.applyEvent({ ...revoked, stream: 'session-s' })
    ended.removeExpired(1000 + start)
    for (passed = 30_000; passed <= 60_000; passed += 10_000) ended.removeExpired(1000 + passed + DAYS_30)
    for (passed = 70_000; passed < TTL * 1000 + 600_000; passed += 10_000) {
      ended.removeExpired(1000 + passed)
      assert.is(ended.isLive(token), false, `forgotten after ${passed} ms`)
    }
    ended.removeExpired(1000 + passed)
    assert.is(ended.isLive(token), true, 'and for ever')
  })
}

test('are the same where an event comes twice, and of two epochs the later, in whatever order they come', () => {
  const ended = new RevokedTokens(TTL)
  for (const epoch of [2, 1, 2]) {
    ended.applyEvent({ stream: 'account-7', type: 'AccountDisabled', data: { epoch }, metadata })
    ended.applyEvent({ stream: 'client-1_x', type: 'ClientDisabled', data: { epoch }, metadata })
  }
  assert.is(ended.isLive({ ...token, accountEpoch: 2, clientEpoch: 2 }), true)
  assert.is(ended.isLive({ ...token, accountEpoch: 1, clientEpoch: 2 }), false)
  assert.is(ended.isLive({ ...token, accountEpoch: 2, clientEpoch: 1 }), false)
})

test.run()
