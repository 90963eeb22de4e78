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

/** Receivers with a webhook each of this vendor. */
async function withWebhooks<const Answers extends readonly (Responder | undefined)[]>(
  owner: Vendor,
  answers: Answers,
  run: (...hooks: { readonly [Index in keyof Answers]: WebhookWithReceiver }) => Promise<void>,
): Promise<void> {
  const hooks: WebhookWithReceiver[] = []
  try {
    for (const answer of answers) {
      const receiver = await startReceiver(answer)
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

test('tell of what was created, changed and deleted since, in order, signed, as the feed does', async ({ service }) => {
  const ann = await service.newVendor()
  await created(ann, { sku: 'BEFORE' })
  await withWebhooks(ann, [undefined], async (hook) => {
    const { messages } = hook.receiver
    const { id } = await created(ann, { sku: 'A-7' })
    await until('the creation', () => messages.length === 1)
    expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 4_711 }))
    await until('the change', () => messages.length === 2)
    const asked = expect(200, await ann.get('/v4/diamond/changes?after=0-2')).json() as { changes: FeedElement[] }
    assert.equal([elementOf(messages[1])], asked.changes)
    expect(204, await ann.remove(`/v4/diamond/${id}`))
    await until('the end', () => messages.length === 3)
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

test('tell an account of its own stones alone', async ({ service, bob }) => {
  const ann = await service.newVendor()
  await withWebhooks(ann, [undefined], async (hook) => {
    await created(bob, { sku: "BOB'S" })
    await created(ann, { sku: "ANN'S" })
    await until('her own', () => hook.receiver.messages.length === 1)
    assert.is(elementOf(hook.receiver.messages[0]).sku, "ANN'S")
  })
})

test('to one that hangs delay no other', async ({ service }) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const hangs: Responder = () => undefined
  await withWebhooks(ann, [hangs, hangs, undefined], async (first, second, good) => {
    await withWebhooks(bob, [undefined], async (other) => {
      await createdMany(ann, 30)
      await createdMany(bob, 30)
      await until('those that answer', () => [good, other].every((hook) => hook.receiver.messages.length === 30))
      await until('those that hang', () => [first, second].every((hook) => hook.receiver.messages.length > 0))
      assert.equal([first.receiver.messages.length, second.receiver.messages.length], [1, 1])
      const cursors = good.receiver.messages.map((message) => Number(elementOf(message).cursor.split('-')[1]))
      assert.equal(
        cursors,
        cursors.toSorted((a, b) => a - b),
      )
    })
  })
})

test('are paused at once by 410, and go on from there when their owner says so', async ({ service }) => {
  const ann = await service.newVendor()
  let status = 410
  await withWebhooks(ann, [(_message, response) => respondWith(status)(response)], async (hook) => {
    await createdMany(ann, 3)
    await until('the pause', async () => (await shown(ann, hook.id)).state === 'paused')
    assert.is((await shown(ann, hook.id)).error, 'Answered 410')
    assert.is(hook.receiver.messages.length, 1)
    status = 200
    await created(ann)
    expect(200, await ann.patch(`/v4/webhook/${hook.id}`, { state: 'active' }))
    await until('what was missed', () => hook.receiver.messages.length === 5)
    const [refused, ...missed] = hook.receiver.messages
    assert.is(missed[0]?.id, refused?.id)
    assert.is(new Set(missed.map(({ id }) => id)).size, 4)
  })
})

test('are tried again at once at another address', async ({ service }) => {
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

test('end with the webhook', async ({ service }) => {
  const ann = await service.newVendor()
  await withWebhooks(ann, [undefined, undefined], async (gone, other) => {
    await created(ann)
    await until('both', () => [gone, other].every((hook) => hook.receiver.messages.length === 1))
    expect(204, await ann.remove(`/v4/webhook/${gone.id}`))
    await createdMany(ann, 5)
    await until('the other', () => other.receiver.messages.length === 6)
    assert.is(gone.receiver.messages.length, 1)
  })
})

test('come from one process of several, and go on where they were in the next one, without a repeat', () =>
  servicesInFolder(async (start) => {
    const first = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const second = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const third = await start('http,projections', ALLOW_LOCAL_RECEIVERS)
    const ann = await first.newVendor()
    await withWebhooks(ann, [undefined], async (hook) => {
      const { messages } = hook.receiver
      await createdMany(ann, 10, 'FIRST')
      // One that is under way when a process stops comes again.
      await until('ten', async () => (await deliveries(ann, hook.id)).length === 10)
      await first.stop()
      const later = vendor(third.url, ann.account, ann.token)
      await createdMany(later, 10, 'LATER')
      await until('twenty', async () => (await deliveries(later, hook.id)).length >= 20)
      await second.stop()
      await createdMany(later, 10, 'LAST')
      await until('thirty', () => messages.length >= 30)
      assert.is(messages.length, 30)
      assert.is(new Set(messages.map(({ id }) => id)).size, 30)
    })
  }))

test('tell the end of a diamond whose beginning was taken, though the answer was lost', async ({ service }) => {
  const ann = await service.newVendor()
  const answers: ServerResponse[] = []
  await withWebhooks(ann, [(_message, response) => void answers.push(response)], async ({ id: hook, receiver }) => {
    const { id } = await created(ann, { sku: 'SHORT' })
    await until('the creation', () => answers.length === 1)
    expect(200, await ann.patch(`/v4/webhook/${hook}`, { state: 'paused' }))
    answers[0]?.destroy()
    await until('the failed try', async () => (await deliveries(ann, hook)).length === 1)
    expect(204, await ann.remove(`/v4/diamond/${id}`))
    expect(200, await ann.patch(`/v4/webhook/${hook}`, { state: 'active' }))
    await until('the end', () => answers.length === 2)
    const { cursor, what, diamond } = elementOf(receiver.messages[1])
    assert.equal([cursor, what, diamond], ['0-2', ['deleted'], null])
    answers[1]?.writeHead(204).end()
  })
})

test('are tried out two at a time by one account, and a third says when to come again', async ({ service }) => {
  const ann = await service.newVendor()
  const waiting: ServerResponse[] = []
  await withWebhooks(ann, [(_message, response) => void waiting.push(response)], async (hook) => {
    const tryOut = () => ann.post(`/v4/webhook/${hook.id}/test`, undefined)
    const two = [tryOut(), tryOut()]
    await until('both are under way', () => waiting.length === 2)
    expect(429, await tryOut())
    for (const response of waiting) response.writeHead(204).end()
    for (const one of await Promise.all(two)) expect(200, one)
    const again = tryOut()
    await until('the next is under way', () => waiting.length === 3)
    waiting[2]?.writeHead(204).end()
    expect(200, await again)
  })
})

test.run()
