import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RevokedTokens } from '../../../src/projections/sessions/token-revocations.ts'

const test = suite('revoked tokens')

/** Lifetime of a token in seconds. */
const TTL = 100
const token = { account: 7, accountEpoch: 0, client: '1_x', clientEpoch: 0, session: 's', number: 3 }
const metadata = { at: new Date(1000).toISOString() }
const revoked = { type: 'SessionRevoked', data: { at: 1000 }, metadata }

/** Each event, and the change that makes a token unaffected by it. */
const REVOCATIONS = [
  [{ stream: 'session-s', type: 'SessionRevoked', data: {} }, { session: 't' }],
  [{ stream: 'session-s', type: 'AccessTokenRevoked', data: { number: 3 } }, { number: 4 }],
  [{ stream: 'account-7', type: 'PasswordChanged', data: { epoch: 1 } }, { accountEpoch: 1 }],
  [{ stream: 'account-7', type: 'AccountDisabled', data: { epoch: 1 } }, { account: 8 }],
  [{ stream: 'client-1_x', type: 'ClientDisabled', data: { epoch: 1 } }, { client: '2_x' }],
] as const

for (const [event, unaffected] of REVOCATIONS) {
  test(`are exactly the tokens that ${event.type} names`, () => {
    const tokens = new RevokedTokens(TTL)
    assert.is(tokens.isLive(token), true)
    tokens.applyEvent({ ...event, metadata })
    assert.equal([tokens.isLive(token), tokens.isLive({ ...token, ...unaffected })], [false, true])
  })
}

test('are removed once the tokens have expired, not before', () => {
  let passed = 0
  const tokens = new RevokedTokens(TTL, () => passed)
  tokens.applyEvent({ ...revoked, stream: 'session-s' })
  tokens.applyEvent({ ...revoked, stream: 'session-t', metadata: { at: new Date(2000).toISOString() } })
  const forgetAt = (time: number) => {
    passed = time
    tokens.removeExpired(time)
  }
  forgetAt(1000)
  forgetAt(1000 + TTL * 1000)
  assert.is(tokens.isLive(token), false)
  forgetAt(1000 + TTL * 1000 + 600_000)
  assert.equal([tokens.isLive(token), tokens.isLive({ ...token, session: 't' })], [true, false])
})

const DAYS_30 = 30 * 86_400_000

for (const [when, start] of [
  ['while the service runs', 0],
  ['when the service starts', DAYS_30],
] as const) {
  test(`are kept if the clock is 30 days ahead for a minute ${when}`, () => {
    let passed = 0
    const tokens = new RevokedTokens(TTL, () => passed)
    tokens.applyEvent({ ...revoked, stream: 'session-s' })
    tokens.removeExpired(1000 + start)
    for (passed = 30_000; passed <= 60_000; passed += 10_000) tokens.removeExpired(1000 + passed + DAYS_30)
    for (passed = 70_000; passed < TTL * 1000 + 600_000; passed += 10_000) {
      tokens.removeExpired(1000 + passed)
      assert.is(tokens.isLive(token), false, `removed after ${passed} ms`)
    }
    tokens.removeExpired(1000 + passed)
    assert.is(tokens.isLive(token), true, 'it is never removed')
  })
}

test('depend on the highest epoch only, whatever the order and repetition of the events', () => {
  const tokens = new RevokedTokens(TTL)
  for (const epoch of [2, 1, 2]) {
    tokens.applyEvent({ stream: 'account-7', type: 'AccountDisabled', data: { epoch }, metadata })
    tokens.applyEvent({ stream: 'client-1_x', type: 'ClientDisabled', data: { epoch }, metadata })
  }
  assert.is(tokens.isLive({ ...token, accountEpoch: 2, clientEpoch: 2 }), true)
  assert.is(tokens.isLive({ ...token, accountEpoch: 1, clientEpoch: 2 }), false)
  assert.is(tokens.isLive({ ...token, accountEpoch: 2, clientEpoch: 1 }), false)
})

test.run()
