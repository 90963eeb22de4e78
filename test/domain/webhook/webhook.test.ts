import {
  signingSecrets,
  webhooksDecider,
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
  events.reduce(webhooksDecider.evolve, webhooksDecider.initialState)

/** The first of two webhooks, after what happened to it; the other one is as it was. */
function first(...events: readonly WebhookEvent[]): Webhook {
  const [one, other] = folded(CREATED, OTHER, ...events)
  assert.equal(other, folded(OTHER)[0])
  assert.ok(one)
  return one
}

const test = suite("an account's webhooks")

test('stand in the order in which they were made', () => {
  assert.equal(
    folded(OTHER, CREATED).map(({ id }) => id),
    [2, 1],
  )
})

test('begin active, from the cursor of their creation, with one secret that signs without end', () => {
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

const changes: readonly (readonly [what: string, event: WebhookEvent, becomes: Partial<Webhook>])[] = [
  [
    'a change of the address begins deliveries anew',
    { type: 'WebhookChanged', data: { id: 1, url: 'https://b.example' } },
    { url: 'https://b.example', begun: 2 },
  ],
  ['the same address once more does not', { type: 'WebhookChanged', data: { id: 1, url: 'https://a.example' } }, {}],
  [
    'a change of the description changes nothing else',
    { type: 'WebhookChanged', data: { id: 1, description: 'mine' } },
    { description: 'mine' },
  ],
  ['progress moves the cursor', { type: 'WebhookProgressed', data: { id: 1, cursor: '0-9' } }, { cursor: '0-9' }],
  [
    'failing says why, and where',
    { type: 'WebhookFailing', data: { id: 1, cursor: '0-9', error: '500' } },
    { state: 'failing', cursor: '0-9', error: '500' },
  ],
  [
    'a pause of which nobody knows where leaves the cursor',
    { type: 'WebhookPaused', data: { id: 1, why: 'owner', cursor: null, error: null } },
    { state: 'paused' },
  ],
  [
    'a pause of which somebody knows where moves it',
    { type: 'WebhookPaused', data: { id: 1, why: 'gone', cursor: '0-9', error: '410' } },
    { state: 'paused', cursor: '0-9', error: '410' },
  ],
]
for (const [what, event, becomes] of changes)
  test(`of which one is changed: ${what}`, () => assert.equal(first(event), { ...first(), ...becomes }))

test('that failed and recovered are as before, with the cursor of then', () => {
  const failing: WebhookEvent = { type: 'WebhookFailing', data: { id: 1, cursor: '0-5', error: '500' } }
  const recovered: WebhookEvent = { type: 'WebhookRecovered', data: { id: 1, cursor: '0-6' } }
  assert.equal(first(failing, recovered), { ...first(), cursor: '0-6' })
})

test('that were paused begin anew when they are activated, without the error', () => {
  const paused: WebhookEvent = { type: 'WebhookPaused', data: { id: 1, why: 'failing', cursor: '0-5', error: '500' } }
  assert.equal(first(paused, { type: 'WebhookActivated', data: { id: 1 } }), { ...first(), cursor: '0-5', begun: 2 })
})

test('that are deleted are gone, alone', () => {
  assert.equal(folded(CREATED, OTHER, { type: 'WebhookDeleted', data: { id: 1 } }), folded(OTHER))
})

test('are left as they are by what a newer release has written', () => {
  const unknown = { type: 'WebhookPainted', data: { id: 1, colour: 'red' } } as unknown as WebhookEvent
  assert.equal(first(unknown), first())
})

const secrets = suite("a webhook's secrets")

const rotated = (secret: string, until: number): WebhookEvent => ({
  type: 'WebhookSecretRotated',
  data: { id: 1, secret, until },
})

secrets('sign both until the time of the former one, the newer one first', () => {
  const webhook = first(rotated('s2', 5_000))
  assert.equal(signingSecrets(webhook, 4_999), ['s2', 's1'])
  assert.equal(signingSecrets(webhook, 5_000), ['s2'])
})

secrets('that ended before stay ended by the next rotation', () => {
  const webhook = first(rotated('s2', 5_000), rotated('s3', 9_000))
  assert.equal(signingSecrets(webhook, 4_999), ['s3', 's2', 's1'])
  assert.equal(signingSecrets(webhook, 5_000), ['s3', 's2'])
  assert.equal(signingSecrets(webhook, 9_000), ['s3'])
})

secrets('are five at most: the oldest goes', () => {
  const webhook = first(...['s2', 's3', 's4', 's5', 's6'].map((secret, at) => rotated(secret, 10_000 + at)))
  assert.equal(signingSecrets(webhook, 0), ['s6', 's5', 's4', 's3', 's2'])
})

secrets('are sealed anew in their order, and keep their times', () => {
  const resealed: WebhookEvent = { type: 'WebhookSecretsResealed', data: { id: 1, secrets: ['new'] } }
  const webhook = first(rotated('s2', 5_000), resealed)
  assert.equal(webhook.secrets, [
    { sealed: 'new', until: null },
    { sealed: 's1', until: 5_000 },
  ])
})

test.run()
secrets.run()
