import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { until } from '../../until.ts'
import { vendor, type Vendor } from '../harness/account.ts'
import { expect } from '../harness/request.ts'
import { servicesInFolder } from '../harness/folder.ts'
import { apiSuite } from '../harness/service.ts'
import { created, createdMany } from '../harness/stones.ts'
import { signatureBy, verified, startReceiver, type ReceivedMessage, type Receiver } from './receiver.ts'

const ALLOW_LOCAL_RECEIVERS = { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true' }
const test = apiSuite('deliveries to webhooks', { settings: ALLOW_LOCAL_RECEIVERS })

type Responder = (message: ReceivedMessage, response: ServerResponse) => void
type CreatedWebhook = {
  readonly id: number
  readonly secret: string
  readonly state: string
  readonly error: string | null
}
type FeedElement = { cursor: string; id: number; sku: string; what: string[]; diamond: object | null }

type WebhookWithReceiver = CreatedWebhook & { readonly receiver: Receiver }

/** Runs with a receiver and a webhook of the owner for each of the responders. */
async function withWebhooks<const Answers extends readonly (Responder | undefined)[]>(
  owner: Vendor,
  responses: Answers,
  run: (...hooks: { readonly [Index in keyof Answers]: WebhookWithReceiver }) => Promise<void>,
): Promise<void> {
  const hooks: WebhookWithReceiver[] = []
  try {
    for (const response of responses) {
      const receiver = await startReceiver(response)
      const made = expect(201, await owner.post('/v4/webhook', { url: receiver.url })).json() as CreatedWebhook
      hooks.push({ ...made, receiver })
    }
    await run(...(hooks as { readonly [Index in keyof Answers]: WebhookWithReceiver }))
  } finally {
    for (const { receiver } of hooks) await receiver.stop()
  }
}

const respondWith = (value: number) => (response: ServerResponse) => void response.writeHead(value).end()
const elementOf = (message: ReceivedMessage | undefined) => message?.body.data as unknown as FeedElement
const shown = async (vendor: Vendor, id: number) =>
  expect(200, await vendor.get(`/v4/webhook/${id}`)).json() as CreatedWebhook
const deliveries = async (vendor: Vendor, id: number) =>
  expect(200, await vendor.get(`/v4/webhook/${id}/deliveries`)).json() as {
    cursor: string
    status: number | null
    error: string | null
  }[]

test('contain later creations, changes and deletions in order, signed and with the elements of the feed', async ({
  service,
}) => {
  const ann = await service.newVendor()
  await created(ann, { sku: 'BEFORE' })
  await withWebhooks(ann, [undefined], async (hook) => {
    const { messages } = hook.receiver
    const { id } = await created(ann, { sku: 'A-7' })
    await until('the creation', () => messages.length === 1)
    expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 4_711 }))
    await until('the change', () => messages.length === 2)
    const feed = expect(200, await ann.get('/v4/diamond/changes?after=0-2')).json() as { changes: FeedElement[] }
    assert.equal([elementOf(messages[1])], feed.changes)
    expect(204, await ann.remove(`/v4/diamond/${id}`))
    await until('the deletion', () => messages.length === 3)
    assert.equal(
      messages.map(({ body }) => body.type),
      ['diamond.created', 'diamond.changed', 'diamond.deleted'],
    )
    const [first, second, third] = messages.map(elementOf)
    assert.equal([first?.what, second?.what, third?.what], [['created'], ['fields'], ['deleted']])
    assert.equal([first?.sku, second?.id, third?.diamond], ['A-7', id, null])
    for (const message of messages) {
      assert.equal(message.signatures, [signatureBy(hook.secret, message)])
      assert.equal(verified(hook.secret, message), message.body)
      assert.is(message.id, `msg_${hook.id}_${elementOf(message).cursor}`)
      assert.match(message.body.timestamp, /^\d{4}-\d\d-\d\dT.*Z$/)
    }
    assert.equal([first?.cursor, second?.cursor, third?.cursor], ['0-2', '0-3', '0-4'])
    const tries = await deliveries(ann, hook.id)
    assert.equal(
      tries.map(({ cursor, status, error }) => ({ cursor, status, error })),
      [third, second, first].map((element) => ({ cursor: element?.cursor, status: 204, error: null })),
    )
  })
})

test('contain only the stones of the account', async ({ service, bob }) => {
  const ann = await service.newVendor()
  await withWebhooks(ann, [undefined], async (hook) => {
    await created(bob, { sku: "BOB'S" })
    await created(ann, { sku: "ANN'S" })
    await until('her own message', () => hook.receiver.messages.length === 1)
    assert.is(elementOf(hook.receiver.messages[0]).sku, "ANN'S")
  })
})

test('to a receiver that hangs do not delay others', async ({ service }) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const hangs: Responder = () => undefined
  await withWebhooks(ann, [hangs, hangs, undefined], async (first, second, good) => {
    await withWebhooks(bob, [undefined], async (other) => {
      await createdMany(ann, 30)
      await createdMany(bob, 30)
      await until('the receivers that respond', () =>
        [good, other].every((hook) => hook.receiver.messages.length === 30),
      )
      await until('the receivers that hang', () => [first, second].every((hook) => hook.receiver.messages.length > 0))
      assert.equal([first.receiver.messages.length, second.receiver.messages.length], [1, 1])
      const cursors = good.receiver.messages.map((message) => Number(elementOf(message).cursor.split('-')[1]))
      assert.equal(
        cursors,
        cursors.toSorted((a, b) => a - b),
      )
    })
  })
})

test('are paused at once by 410 and resume there when the owner reactivates the webhook', async ({ service }) => {
  const ann = await service.newVendor()
  let status = 410
  await withWebhooks(ann, [(_message, response) => respondWith(status)(response)], async (hook) => {
    await createdMany(ann, 3)
    await until('the pause', async () => (await shown(ann, hook.id)).state === 'paused')
    assert.is((await shown(ann, hook.id)).error, 'Responded with 410')
    assert.is(hook.receiver.messages.length, 1)
    status = 200
    await created(ann)
    expect(200, await ann.patch(`/v4/webhook/${hook.id}`, { state: 'active' }))
    await until('the missed messages', () => hook.receiver.messages.length === 5)
    const [refused, ...missed] = hook.receiver.messages
    assert.is(missed[0]?.id, refused?.id)
    assert.is(new Set(missed.map(({ id }) => id)).size, 4)
  })
})

test('are retried at once after a change of the address', async ({ service }) => {
  const ann = await service.newVendor()
  const other = await startReceiver()
  try {
    await withWebhooks(ann, [(_message, response) => respondWith(500)(response)], async ({ id, receiver }) => {
      await created(ann)
      await until('the failure', async () => (await deliveries(ann, id)).length === 1)
      expect(200, await ann.patch(`/v4/webhook/${id}`, { url: other.url }))
      await until('the message', () => other.messages.length === 1)
      assert.is(other.messages[0]?.id, receiver.messages[0]?.id)
    })
  } finally {
    await other.stop()
  }
})

test('end when the webhook is deleted', async ({ service }) => {
  const ann = await service.newVendor()
  await withWebhooks(ann, [undefined, undefined], async (deleted, other) => {
    await created(ann)
    await until('both messages', () => [deleted, other].every((hook) => hook.receiver.messages.length === 1))
    expect(204, await ann.remove(`/v4/webhook/${deleted.id}`))
    await createdMany(ann, 5)
    await until('the messages of the other', () => other.receiver.messages.length === 6)
    assert.is(deleted.receiver.messages.length, 1)
  })
})

test('are sent by one of several processes and resume in the next one without repetition', () =>
  servicesInFolder(async (start) => {
    const first = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const second = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const third = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const ann = await first.newVendor()
    await withWebhooks(ann, [undefined], async (hook) => {
      const { messages } = hook.receiver
      await createdMany(ann, 10, 'FIRST')
      // A delivery in progress when a process stops is sent again.
      await until('ten deliveries', async () => (await deliveries(ann, hook.id)).length === 10)
      await first.stop()
      const later = vendor(third.url, ann.account, ann.token)
      await createdMany(later, 10, 'LATER')
      await until('twenty deliveries', async () => (await deliveries(later, hook.id)).length >= 20)
      await second.stop()
      await createdMany(later, 10, 'LAST')
      await until('thirty messages', () => messages.length >= 30)
      assert.is(messages.length, 30)
      assert.is(new Set(messages.map(({ id }) => id)).size, 30)
    })
  }))

test('report the deletion of a diamond whose creation was received although its response was lost', async ({
  service,
}) => {
  const ann = await service.newVendor()
  const responses: ServerResponse[] = []
  await withWebhooks(ann, [(_message, response) => void responses.push(response)], async ({ id: hook, receiver }) => {
    const { id } = await created(ann, { sku: 'SHORT' })
    await until('the creation', () => responses.length === 1)
    expect(200, await ann.patch(`/v4/webhook/${hook}`, { state: 'paused' }))
    responses[0]?.destroy()
    await until('the failed delivery', async () => (await deliveries(ann, hook)).length === 1)
    expect(204, await ann.remove(`/v4/diamond/${id}`))
    expect(200, await ann.patch(`/v4/webhook/${hook}`, { state: 'active' }))
    await until('the deletion', () => responses.length === 2)
    const { cursor, what, diamond } = elementOf(receiver.messages[1])
    assert.equal([cursor, what, diamond], ['0-2', ['deleted'], null])
    responses[1]?.writeHead(204).end()
  })
})

test('can be tested twice at a time by an account; a third test is rejected with 429', async ({ service }) => {
  const ann = await service.newVendor()
  const waiting: ServerResponse[] = []
  await withWebhooks(ann, [(_message, response) => void waiting.push(response)], async (hook) => {
    const tryOut = () => ann.post(`/v4/webhook/${hook.id}/test`, undefined)
    const two = [tryOut(), tryOut()]
    await until('both tests in progress', () => waiting.length === 2)
    expect(429, await tryOut())
    for (const response of waiting) response.writeHead(204).end()
    for (const one of await Promise.all(two)) expect(200, one)
    const again = tryOut()
    await until('the next test in progress', () => waiting.length === 3)
    waiting[2]?.writeHead(204).end()
    expect(200, await again)
  })
})

test.run()
