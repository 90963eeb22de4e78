import {
  findUsedToken,
  InvalidGrant,
  startSession,
  rotateRefreshToken,
  revokeSession,
  revokeAccessToken,
  sessionFold,
  type SessionEvent,
} from '../../../src/domain/session/session.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('a session')

const given = (...events: SessionEvent[]) => events.reduce(sessionFold.evolve, sessionFold.initialState)
const grant = { account: 7, accountEpoch: 1, client: '1_x', clientEpoch: 2 }
const rotation = { ...grant, digest: 'd0', number: 0, at: 1000, expiresAt: 50_000 }
const opened: SessionEvent = { type: 'SessionOpened', data: rotation }
const rotated = (number: number, at: number): SessionEvent => ({
  type: 'TokenRefreshed',
  data: { ...rotation, digest: `d${number}`, number, at, expiresAt: at + 50_000 },
})
const refreshRequest = {
  presentedDigest: 'd0',
  digest: 'd1',
  client: '1_x',
  clientEpoch: 2,
  accountEpoch: 1,
  logEpoch: 0,
  now: 2000,
  expiresAt: 52_000,
}
const refused = (error: unknown) => error instanceof InvalidGrant

test('starts with its first refresh token', () => {
  assert.equal(startSession(sessionFold.initialState, rotation), [opened])
})

test('rotates its refresh token, and the event repeats the grant', () => {
  assert.equal(rotateRefreshToken(given(opened), refreshRequest), [rotated(1, 2000)])
})

test('has the same state from its newest events as from all events', () => {
  const whole = given(opened, rotated(1, 2000), rotated(2, 3000))
  const newest = given(rotated(2, 3000))
  assert.equal(
    rotateRefreshToken(newest, { ...refreshRequest, presentedDigest: 'd2' }),
    rotateRefreshToken(whole, { ...refreshRequest, presentedDigest: 'd2' }),
  )
})

test('is revoked when a used token is presented again more than 10 s after its rotation', () => {
  const session = given(opened, rotated(1, 2000))
  assert.throws(() => rotateRefreshToken(session, { ...refreshRequest, now: 12_000 }), refused)
  assert.equal(rotateRefreshToken(session, { ...refreshRequest, now: 12_001 }), [
    { type: 'RefreshReused', data: { at: 12_001 } },
    { type: 'SessionRevoked', data: { at: 12_001, reason: 'reuse' } },
  ])
})

test('counts the 10 s of each token from the rotation of that token', () => {
  const session = given(opened, rotated(1, 2000), rotated(2, 30_000))
  assert.is(rotateRefreshToken(session, { ...refreshRequest, presentedDigest: 'd0', now: 31_000 }).length, 2)
  assert.throws(() => rotateRefreshToken(session, { ...refreshRequest, presentedDigest: 'd1', now: 31_000 }), refused)
})

test('rejects an unknown token, an expired token, another client and an outdated epoch', () => {
  const session = given(opened)
  for (const change of [
    { presentedDigest: 'x' },
    { now: 50_000 },
    { client: '2_y' },
    { clientEpoch: 3 },
    { accountEpoch: 2 },
    { logEpoch: 3 },
  ]) {
    assert.throws(() => rotateRefreshToken(session, { ...refreshRequest, ...change }), refused)
  }
})

test('that was revoked cannot be refreshed, and is not revoked again', () => {
  const session = given(opened, ...revokeSession(given(opened), { now: 3000 }))
  assert.throws(() => rotateRefreshToken(session, refreshRequest), refused)
  assert.equal(revokeSession(session, { now: 4000 }), [])
  assert.equal(revokeAccessToken(session, { number: 0, now: 4000 }), [])
})

test('recognizes every used token', () => {
  const session = given(opened, rotated(1, 2000), rotated(2, 3000))
  assert.equal(
    ['d0', 'd1', 'd2', 'x'].map((digest) => findUsedToken(session, digest)?.at),
    [2000, 3000, undefined, undefined],
  )
})

test.run()
