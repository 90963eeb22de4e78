import * as assert from 'uvu/assert'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { until } from '../until.ts'
import { expect } from './harness/request.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { startReceiver } from './webhooks/receiver.ts'

const SETTINGS = { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true', SECRETS_ANONYMOUS: 'true' }
const test = apiSuite('the trace context of a request', { settings: SETTINGS, scored: true })

const traceparent = (digit: string) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`
const traceOf = ({ metadata }: StoredEvent) => metadata['traceparent']
const stone = { sku: 'T-1', cutShape: 'Round', carat: 1, color: 'D', clarity: 'IF' }

async function eventsOf({ installation: { store } }: Service, stream: string): Promise<StoredEvent[]> {
  return store.readStream(stream)
}

test('is in the metadata of the events it wrote and of the scores derived from them', async ({ service, ann }) => {
  const headers = { traceparent: traceparent('a') }
  const { id } = expect(201, await ann.post('/v4/diamond', stone, headers)).json() as { id: number }
  assert.equal((await eventsOf(service, `diamond-${id}`)).map(traceOf), [traceparent('a')])
  await until('the scores', async () => (await eventsOf(service, `scores-${id}`)).length > 0)
  assert.equal((await eventsOf(service, `scores-${id}`)).map(traceOf), [traceparent('a')])
})

test('is in every event of a bulk', async ({ service, ann }) => {
  const entries = { entries: [stone, { ...stone, sku: 'T-2' }] }
  const made = expect(201, await ann.post('/v4/diamond/bulk', entries, { traceparent: traceparent('b') }))
  for (const [, id] of made.text.matchAll(/"id": ?(\d+)/g)) {
    assert.equal((await eventsOf(service, `diamond-${id}`)).map(traceOf), [traceparent('b')])
  }
})

test('is ignored if it is malformed', async ({ service, ann }) => {
  for (const wrong of ['00-abc', traceparent('0'), `ff${traceparent('a').slice(2)}`, 'x'.repeat(2_000)]) {
    const { id } = expect(201, await ann.post('/v4/diamond', stone, { traceparent: wrong })).json() as { id: number }
    assert.equal((await eventsOf(service, `diamond-${id}`)).map(traceOf), [undefined])
  }
})

test('is sent with the webhook message for the latest change, and with a test message', async ({ service }) => {
  const vendor = await service.newVendor()
  const receiver = await startReceiver()
  try {
    const hook = expect(201, await vendor.post('/v4/webhook', { url: receiver.url })).json() as { id: number }
    const { id } = await created(vendor, { sku: 'W-1' })
    await until('the creation', () => receiver.messages.length > 0)
    assert.is(receiver.messages[0]?.trace, '')
    // Scores that arrived after the change would otherwise be the latest event.
    await until('its scores', () => receiver.messages.some(({ text }) => /"what":\[[^\]]*"scores"/.test(text)))
    const sent = { traceparent: traceparent('c') }
    expect(200, await vendor.patch(`/v4/diamond/${id}`, { sku: 'W-2' }, sent))
    await until('the change', () => receiver.messages.some(({ text }) => text.includes('W-2')))
    assert.is(receiver.messages.find(({ text }) => text.includes('W-2'))?.trace, traceparent('c'))
    const test = { method: 'POST', path: `/v4/webhook/${hook.id}/test`, headers: { traceparent: traceparent('d') } }
    expect(200, await vendor.send(test))
    await until('the test', () => receiver.messages.some(({ body }) => body.type === 'webhook.test'))
    assert.is(receiver.messages.find(({ body }) => body.type === 'webhook.test')?.trace, traceparent('d'))
  } finally {
    await receiver.stop()
  }
})

test('is kept for anonymous requests too', async ({ service }) => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', traceparent: traceparent('e') }
  expect(200, await service.send({ method: 'POST', path: '/api/v1/share', headers, body: 'secret=traced' }))
  const traced: string[] = []
  for await (const event of service.installation.store.readAll('start', { prefixes: ['secret-'] })) {
    if (traceOf(event) === traceparent('e')) traced.push(event.type)
  }
  assert.equal(traced, ['SecretShared'])
})

test.run()
