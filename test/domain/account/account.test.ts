import {
  accountFold,
  changePassword,
  changePlan,
  disable,
  enable,
  issueApiToken,
  register,
  revokeApiToken,
  type AccountEvent,
} from '../../../src/domain/account/account.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'

const test = suite('an account')

const given = (...events: AccountEvent[]) => events.reduce(accountFold.evolve, accountFold.initialState)
const registered: AccountEvent = {
  type: 'AccountRegistered',
  data: { password: 'hash', plan: 'basic' },
}
const registration = { email: 'Ann@example.com', password: 'hash', plan: 'basic' } as const
const token = { token: 't1', digest: 'd1', at: 5 }
const refusal = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind

test('has no email address in its events', () => {
  assert.equal(register(accountFold.initialState, registration), [registered])
})

const ENDED = { apiTokens: 'ended' } as const

test('is registered once', () => {
  assert.throws(() => register(given(registered), registration), refusal('conflict'))
})

test('needs a valid email address', () => {
  for (const email of ['', 'ann', '@x', 'ann@', 'a nn@x', 'a@b@c', 'a\n@b', `${'a'.repeat(250)}@b.cd`]) {
    assert.throws(() => register(accountFold.initialState, { ...registration, email }), refusal('invalid'))
  }
})

test('increments its epoch when the password changes and when it is disabled', () => {
  const changed = given(registered, ...changePassword(given(registered), { password: 'new', apiTokens: 'ended' }))
  assert.equal(disable(changed, ENDED), [{ type: 'AccountDisabled', data: { epoch: 2 } }])
})

test('that is enabled again keeps the epoch that ended its tokens', () => {
  const enabled = given(
    registered,
    ...disable(given(registered), ENDED),
    ...enable(given(registered, ...disable(given(registered), ENDED))),
  )
  assert.is(enabled.status, 'enabled')
  assert.equal(disable(enabled, ENDED), [{ type: 'AccountDisabled', data: { epoch: 2 } }])
})

test('decides no events for a command that changes nothing', () => {
  assert.equal(enable(given(registered)), [])
  assert.equal(changePlan(given(registered), { plan: 'basic' }), [])
  const disabled = given(registered, ...disable(given(registered), ENDED))
  assert.equal(disable(disabled, ENDED), [])
})

test('is issued API tokens only while enabled, and no longer has a revoked one', () => {
  const disabled = given(registered, ...disable(given(registered), ENDED))
  assert.throws(() => issueApiToken(disabled, token), refusal('conflict'))
  const issued = given(registered, ...issueApiToken(given(registered), token))
  const revoked = given(
    registered,
    ...issueApiToken(given(registered), token),
    ...revokeApiToken(issued, { token: 't1' }),
  )
  assert.throws(() => revokeApiToken(revoked, { token: 't1' }), refusal('missing'))
})

test('revokes its API tokens when the password changes and when it is disabled, unless they are kept', () => {
  const issued = given(registered, ...issueApiToken(given(registered), token))
  const revoked = { type: 'ApiTokenRevoked', data: { token: 't1' } }
  assert.equal(changePassword(issued, { password: 'new', apiTokens: 'ended' }).slice(1), [revoked])
  assert.equal(changePassword(issued, { password: 'new', apiTokens: 'kept' }).slice(1), [])
  assert.equal(disable(issued, ENDED).slice(1), [revoked])
  const kept = given(registered, ...issueApiToken(given(registered), token), ...disable(issued, { apiTokens: 'kept' }))
  assert.equal(disable(kept, ENDED), [revoked])
})

test('that was never registered is missing', () => {
  assert.throws(() => disable(accountFold.initialState, ENDED), refusal('missing'))
  assert.throws(() => enable(accountFold.initialState), refusal('missing'))
})

test.run()
