import {
  clientFold,
  disableClient,
  enableClient,
  registerClient,
  rotateSecret,
  type ClientEvent,
} from '../../../src/domain/client/client.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'

const test = suite('a client')

const given = (...events: ClientEvent[]) => events.reduce(clientFold.evolve, clientFold.initialState)
const registered: ClientEvent = { type: 'ClientRegistered', data: { name: 'shop', secret: 'digest' } }
const refusal = (kind: string, message = /./) => {
  return (error: unknown) => error instanceof RequestError && error.kind === kind && message.test(error.message)
}

test('needs a name of 1 to 200 characters, not counting surrounding white space', () => {
  assert.equal(registerClient(clientFold.initialState, registered.data), [registered])
  assert.equal(registerClient(clientFold.initialState, { ...registered.data, name: '  shop\t' }), [registered])
  assert.is(registerClient(clientFold.initialState, { name: 'x'.repeat(200), secret: 's' }).length, 1)
  for (const name of ['', ' ', 'x'.repeat(201)]) {
    const message = new RegExp(`1 to 200 characters, got ${name.trim().length}$`)
    assert.throws(() => registerClient(clientFold.initialState, { name, secret: 's' }), refusal('invalid', message))
  }
})

test('is registered once', () => {
  assert.throws(() => registerClient(given(registered), registered.data), refusal('conflict', /already registered/))
})

test('decides no events when it is enabled already', () => {
  assert.equal(enableClient(given(registered)), [])
})

test('ignores other events before its registration', () => {
  assert.equal(given({ type: 'ClientEnabled', data: {} }), clientFold.initialState)
})

test('keeps its epoch, and so its tokens, when its secret is rotated', () => {
  const client = given(registered, ...rotateSecret(given(registered), { secret: 'new' }))
  assert.equal(client, { status: 'enabled', name: 'shop', secret: 'new', epoch: 0 })
})

test('increments its epoch each time it is disabled', () => {
  const disabled = given(registered, ...disableClient(given(registered)))
  assert.equal(disableClient(disabled), [])
  const enabled = given(registered, ...disableClient(given(registered)), ...enableClient(disabled))
  assert.equal(disableClient(enabled), [{ type: 'ClientDisabled', data: { epoch: 2 } }])
})

test('that was never registered is missing', () => {
  const rotate = (client: typeof clientFold.initialState) => rotateSecret(client, { secret: 'new' })
  for (const decide of [disableClient, enableClient, rotate])
    assert.throws(() => decide(clientFold.initialState), refusal('missing', /no such client/))
})

test.run()
