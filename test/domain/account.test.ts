import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  changePassword,
  changePlan,
  disable,
  enable,
  evolveAccount,
  issueApiToken,
  register,
  revokeApiToken,
  unknownAccount,
  type AccountEvent,
} from '../../src/domain/account.ts'
import { Refusal } from '../../src/domain/refusal.ts'

const test = suite('an account')

const given = (...events: AccountEvent[]) => events.reduce(evolveAccount, unknownAccount)
const registered: AccountEvent = {
  type: 'AccountRegistered',
  data: { email: 'Ann@example.com', password: 'hash', plan: 'basic' },
}
const token = { token: 't1', digest: 'd1', at: 5 }
const refusal = (kind: string) => (error: unknown) => error instanceof Refusal && error.kind === kind

test('keeps its address as it was given', () => {
  assert.equal(register(unknownAccount, registered.data), [registered])
})

test('is registered once', () => {
  assert.throws(() => register(given(registered), registered.data), refusal('conflict'))
})

test('needs an address that mail can be sent to', () => {
  for (const email of ['', 'ann', '@x', 'ann@', 'a nn@x', 'a@b@c', 'a\n@b', `${'a'.repeat(250)}@b.cd`]) {
    assert.throws(() => register(unknownAccount, { ...registered.data, email }), refusal('invalid'))
  }
})

test('raises its epoch with each password and each time it is disabled', () => {
  const changed = given(registered, ...changePassword(given(registered), { password: 'new' }))
  assert.equal(disable(changed), [{ type: 'AccountDisabled', data: { epoch: 2 } }])
})

test('that is enabled again keeps the epoch that ended its tokens', () => {
  const enabled = given(
    registered,
    ...disable(given(registered)),
    ...enable(given(registered, ...disable(given(registered)))),
  )
  assert.is(enabled.status, 'enabled')
  assert.equal(disable(enabled), [{ type: 'AccountDisabled', data: { epoch: 2 } }])
})

test('that is what was asked for already needs no event', () => {
  assert.equal(enable(given(registered)), [])
  assert.equal(changePlan(given(registered), { plan: 'basic' }), [])
  const disabled = given(registered, ...disable(given(registered)))
  assert.equal(disable(disabled), [])
})

test('gets API tokens while it is enabled, and loses the one that is revoked', () => {
  const disabled = given(registered, ...disable(given(registered)))
  assert.throws(() => issueApiToken(disabled, token), refusal('conflict'))
  const issued = given(registered, ...issueApiToken(given(registered), token))
  const left = given(registered, ...issueApiToken(given(registered), token), ...revokeApiToken(issued, { token: 't1' }))
  assert.throws(() => revokeApiToken(left, { token: 't1' }), refusal('missing'))
})

test('that nobody registered is missing', () => {
  for (const decide of [disable, enable]) assert.throws(() => decide(unknownAccount), refusal('missing'))
})

test.run()
