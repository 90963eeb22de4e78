import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  disableClient,
  enableClient,
  evolveClient,
  registerClient,
  rotateSecret,
  unknownClient,
  type ClientEvent,
} from '../../../src/domain/client/client.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const test = suite('a client')

const given = (...events: ClientEvent[]) => events.reduce(evolveClient, unknownClient)
const registered: ClientEvent = { type: 'ClientRegistered', data: { name: 'shop', secret: 'digest' } }
const refusal = (kind: string) => (error: unknown) => error instanceof Refusal && error.kind === kind

test('needs a name of 1 to 200 characters, without the blanks around it', () => {
  assert.equal(registerClient(unknownClient, registered.data), [registered])
  assert.equal(registerClient(unknownClient, { ...registered.data, name: '  shop\t' }), [registered])
  for (const name of ['', ' ', 'x'.repeat(201)]) {
    assert.throws(() => registerClient(unknownClient, { name, secret: 's' }), refusal('invalid'))
  }
})

test('keeps its epoch, and so its tokens, when its secret is rotated', () => {
  const client = given(registered, ...rotateSecret(given(registered), { secret: 'new' }))
  assert.equal(client, { status: 'enabled', name: 'shop', secret: 'new', epoch: 0 })
})

test('raises its epoch each time it is disabled', () => {
  const disabled = given(registered, ...disableClient(given(registered)))
  assert.equal(disableClient(disabled), [])
  const enabled = given(registered, ...disableClient(given(registered)), ...enableClient(disabled))
  assert.equal(disableClient(enabled), [{ type: 'ClientDisabled', data: { epoch: 2 } }])
})

test('that nobody registered is missing', () => {
  for (const decide of [disableClient, enableClient]) assert.throws(() => decide(unknownClient), refusal('missing'))
})

test.run()
