import {
  signingSecrets,
  webhooksFold,
  type Webhook,
  type WebhookEvent,
  type Webhooks,
} from '../../../src/domain/webhook/webhook.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const CREATED: WebhookEvent = {
  type: 'WebhookCreated',
  data: { id: 1, url: 'https://a.example', description: null, secret: 's1', cursor: '0-3', at: 1_000 },
}
const OTHER: WebhookEvent = { type: 'WebhookCreated', data: { ...CREATED.data, id: 2, description: 'the other one' } }

const folded = (...events: readonly WebhookEvent[]): Webhooks =>
  events.reduce(webhooksFold.evolve, webhooksFold.initialState)

/** The first of two webhooks after these events. Asserts that the other one is unchanged. */
function first(...events: readonly WebhookEvent[]): Webhook {
  const [one, other] = folded(CREATED, OTHER, ...events)
  assert.equal(other, folded(OTHER)[0])
  assert.ok(one)
  return one
}

const test = suite("an account's webhooks")

test('are listed in order of creation', () => {
  assert.equal(
    folded(OTHER, CREATED).map(({ id }) => id),
    [2, 1],
  )
})

test('start active, at the cursor of their creation, with one secret that does not expire', () => {
  assert.equal(folded(CREATED), [
    {
      id: 1,
      url: 'https://a.example',
      description: null,
      state: 'active',
      created: 1_000,
      error: null,
      secrets: [{ sealed: 's1', until: null }],
      cursor: '0-3',
      begun: 1,
    },
  ])
})

const changes: readonly (readonly [name: string, event: WebhookEvent, expected: Partial<Webhook>])[] = [
  [
    'restart deliveries after a change of the URL',
    { type: 'WebhookChanged', data: { id: 1, url: 'https://b.example' } },
    { url: 'https://b.example', begun: 2 },
  ],
  [
    'do not restart deliveries if the URL stays the same',
    { type: 'WebhookChanged', data: { id: 1, url: 'https://a.example' } },
    {},
  ],
  [
    'keep everything else after a change of the description',
    { type: 'WebhookChanged', data: { id: 1, description: 'mine' } },
    { description: 'mine' },
  ],
  ['move the cursor with progress', { type: 'WebhookProgressed', data: { id: 1, cursor: '0-9' } }, { cursor: '0-9' }],
  [
    'have an error and a cursor when failing',
    { type: 'WebhookFailing', data: { id: 1, cursor: '0-9', error: '500' } },
    { state: 'failing', cursor: '0-9', error: '500' },
  ],
  [
    'keep the cursor after a pause without one',
    { type: 'WebhookPaused', data: { id: 1, why: 'owner', cursor: null, error: null } },
    { state: 'paused' },
  ],
  [
    'move the cursor after a pause with one',
    { type: 'WebhookPaused', data: { id: 1, why: 'gone', cursor: '0-9', error: '410' } },
    { state: 'paused', cursor: '0-9', error: '410' },
  ],
]
for (const [name, event, expected] of changes) test(name, () => assert.equal(first(event), { ...first(), ...expected }))

test('have no error after a recovery, and the cursor of the recovery', () => {
  const failing: WebhookEvent = { type: 'WebhookFailing', data: { id: 1, cursor: '0-5', error: '500' } }
  const recovered: WebhookEvent = { type: 'WebhookRecovered', data: { id: 1, cursor: '0-6' } }
  assert.equal(first(failing, recovered), { ...first(), cursor: '0-6' })
})

test('restart deliveries without the error when they are activated after a pause', () => {
  const paused: WebhookEvent = { type: 'WebhookPaused', data: { id: 1, why: 'failing', cursor: '0-5', error: '500' } }
  assert.equal(first(paused, { type: 'WebhookActivated', data: { id: 1 } }), { ...first(), cursor: '0-5', begun: 2 })
})

test('exclude a deleted one and keep the others', () => {
  assert.equal(folded(CREATED, OTHER, { type: 'WebhookDeleted', data: { id: 1 } }), folded(OTHER))
})

test('are not changed by an event of a newer release', () => {
  const unknown = { type: 'WebhookPainted', data: { id: 1, colour: 'red' } } as unknown as WebhookEvent
  assert.equal(first(unknown), first())
})

const secrets = suite("a webhook's secrets")

const rotated = (secret: string, until: number): WebhookEvent => ({
  type: 'WebhookSecretRotated',
  data: { id: 1, secret, until },
})

secrets('sign together until the former one expires, the newer one first', () => {
  const webhook = first(rotated('s2', 5_000))
  assert.equal(signingSecrets(webhook, 4_999), ['s2', 's1'])
  assert.equal(signingSecrets(webhook, 5_000), ['s2'])
})

secrets('keep their expiry at the next rotation', () => {
  const webhook = first(rotated('s2', 5_000), rotated('s3', 9_000))
  assert.equal(signingSecrets(webhook, 4_999), ['s3', 's2', 's1'])
  assert.equal(signingSecrets(webhook, 5_000), ['s3', 's2'])
  assert.equal(signingSecrets(webhook, 9_000), ['s3'])
})

secrets('are five at most: the oldest is dropped', () => {
  const webhook = first(...['s2', 's3', 's4', 's5', 's6'].map((secret, at) => rotated(secret, 10_000 + at)))
  assert.equal(signingSecrets(webhook, 0), ['s6', 's5', 's4', 's3', 's2'])
})

secrets('are resealed in order, and keep their expiry', () => {
  const resealed: WebhookEvent = { type: 'WebhookSecretsResealed', data: { id: 1, secrets: ['new'] } }
  const webhook = first(rotated('s2', 5_000), resealed)
  assert.equal(webhook.secrets, [
    { sealed: 'new', until: null },
    { sealed: 's1', until: 5_000 },
  ])
})

test.run()
secrets.run()
