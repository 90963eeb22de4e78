import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  recordDelivery,
  rotateWebhookSecret,
  requireWebhook,
  type DeliveryStateChange,
  type Webhook,
  type WebhookChange,
  type WebhookEvent,
  type WebhookState,
} from '../../../src/domain/webhook/webhook.ts'

const NEW = { id: 1, url: 'https://a.example', description: 'mine', secret: 's1', cursor: '0-3' }

const webhook = (state: WebhookState = 'active', id = 1): Webhook => ({
  ...NEW,
  id,
  state,
  created: 1_000,
  error: null,
  secrets: [{ sealed: 's1', until: null }],
  begun: 1,
})

const refused = (kind: string, message: string, decide: () => unknown) =>
  assert.throws(
    decide,
    (error: unknown) => error instanceof RequestError && error.kind === kind && error.message === message,
    `${kind}: ${message}`,
  )

const test = suite('a webhook')

test('is created with the given attributes and the current time', () => {
  assert.equal(createWebhook([], NEW, 5), [{ type: 'WebhookCreated', data: { ...NEW, at: 5 } }])
})

test('is refused if its account already has ten', () => {
  const nine = Array.from({ length: 9 }, (_, index) => webhook('active', index + 2))
  assert.is(createWebhook(nine, NEW, 5).length, 1)
  refused('invalid', 'An account has at most 10 webhooks; delete one that is not needed', () =>
    createWebhook([...nine, webhook('active', 11)], NEW, 5),
  )
})

test('that does not exist is missing for every command', () => {
  const none = 'There is no webhook 7'
  refused('missing', none, () => requireWebhook([webhook()], 7))
  refused('missing', none, () => changeWebhook([webhook()], 7, {}))
  refused('missing', none, () => rotateWebhookSecret([webhook()], 7, 's2', 0))
  refused('missing', none, () => deleteWebhook([webhook()], 7))
  assert.is(requireWebhook([webhook('paused', 2), webhook()], 1).state, 'active')
})

test('can be deleted', () => assert.equal(deleteWebhook([webhook()], 1), [{ type: 'WebhookDeleted', data: { id: 1 } }]))

test('keeps signing with its former secret for 24 hours after a rotation', () => {
  assert.equal(rotateWebhookSecret([webhook()], 1, 's2', 7), [
    { type: 'WebhookSecretRotated', data: { id: 1, secret: 's2', until: 86_400_007 } },
  ])
})

const PAUSED: WebhookEvent = { type: 'WebhookPaused', data: { id: 1, why: 'owner', cursor: null, error: null } }
const ACTIVATED: WebhookEvent = { type: 'WebhookActivated', data: { id: 1 } }
const changedTo = (data: object): WebhookEvent => ({ type: 'WebhookChanged', data: { id: 1, ...data } })

const changes: readonly (readonly [name: string, state: WebhookState, WebhookChange, readonly WebhookEvent[]])[] = [
  ['nothing', 'active', {}, []],
  ['attributes to their current values', 'active', { url: NEW.url, description: 'mine', state: 'active' }, []],
  ['its URL', 'active', { url: 'https://b.example' }, [changedTo({ url: 'https://b.example' })]],
  ['its description', 'active', { description: 'other' }, [changedTo({ description: 'other' })]],
  ['its description to null', 'active', { url: NEW.url, description: null }, [changedTo({ description: null })]],
  [
    'its URL and its description',
    'active',
    { url: 'https://b.example', description: null },
    [changedTo({ url: 'https://b.example', description: null })],
  ],
  ['active to paused', 'active', { state: 'paused' }, [PAUSED]],
  ['failing to paused', 'failing', { state: 'paused' }, [PAUSED]],
  ['paused to paused', 'paused', { state: 'paused' }, []],
  ['paused to active', 'paused', { state: 'active' }, [ACTIVATED]],
  ['failing to active', 'failing', { state: 'active' }, [ACTIVATED]],
  [
    'its URL and its state to paused',
    'active',
    { url: 'https://b.example', state: 'paused' },
    [changedTo({ url: 'https://b.example' }), PAUSED],
  ],
  [
    'its URL and its state to active',
    'paused',
    { url: 'https://b.example', state: 'active' },
    [changedTo({ url: 'https://b.example' }), ACTIVATED],
  ],
]
for (const [name, state, change, events] of changes)
  test(`records exactly that change when its owner changes ${name}`, () =>
    assert.equal(changeWebhook([webhook(state)], 1, change), events))

const PROGRESSED: DeliveryStateChange = { type: 'progressed', cursor: '0-9' }
const RECOVERED: DeliveryStateChange = { type: 'recovered', cursor: '0-9' }
const FAILING: DeliveryStateChange = { type: 'failing', cursor: '0-9', error: '500' }
const GONE: DeliveryStateChange = { type: 'paused', why: 'gone', cursor: '0-9', error: '410' }

const deliveries: readonly (readonly [WebhookState, DeliveryStateChange, readonly WebhookEvent[]])[] = [
  ['active', PROGRESSED, [{ type: 'WebhookProgressed', data: { id: 1, cursor: '0-9' } }]],
  ['active', { type: 'progressed', cursor: NEW.cursor }, []],
  ['failing', PROGRESSED, [{ type: 'WebhookProgressed', data: { id: 1, cursor: '0-9' } }]],
  ['active', RECOVERED, []],
  ['failing', RECOVERED, [{ type: 'WebhookRecovered', data: { id: 1, cursor: '0-9' } }]],
  ['active', FAILING, [{ type: 'WebhookFailing', data: { id: 1, cursor: '0-9', error: '500' } }]],
  ['failing', FAILING, []],
  ['active', GONE, [{ type: 'WebhookPaused', data: { id: 1, why: 'gone', cursor: '0-9', error: '410' } }]],
  ['failing', GONE, [{ type: 'WebhookPaused', data: { id: 1, why: 'gone', cursor: '0-9', error: '410' } }]],
]
for (const [state, change, events] of deliveries) {
  test(`that is ${state} records ${events.length} events for the delivery state ${change.type} at ${change.cursor}`, () =>
    assert.equal(recordDelivery([webhook(state)], 1, change), events))
}

test('that its owner has paused or deleted in the meantime records nothing for deliveries', () => {
  for (const change of [PROGRESSED, RECOVERED, FAILING, GONE]) {
    assert.equal(recordDelivery([webhook('paused')], 1, change), [])
    assert.equal(recordDelivery([webhook('active', 2)], 1, change), [])
  }
  assert.equal(recordDelivery([webhook()], 1, { what: 'slept', cursor: '0-9' } as unknown as DeliveryStateChange), [])
})

test.run()
