import * as assert from 'uvu/assert'
import { apiSuite } from '../harness/service.ts'
import { expect, pointers, refusal } from '../harness/request.ts'
import { signatureBy, verified, startReceiver } from './receiver.ts'

const test = apiSuite('the webhooks of an account', { settings: { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true' } })

type ShownWebhook = {
  id: number
  url: string
  description: string | null
  state: string
  created: string
  error: string | null
}
type CreatedWebhook = ShownWebhook & { secret: string }

const URL = 'https://example.com/hook?a=1'

test('are created, read, changed and deleted by their owner; the secret is returned once', async ({ service }) => {
  const ann = await service.newVendor()
  const response = expect(201, await ann.post('/v4/webhook', { url: URL, description: 'Stock' }))
  const { secret, ...shown } = response.json() as CreatedWebhook
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.match(shown.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const { id, created } = shown
  assert.equal(shown, { id, url: URL, description: 'Stock', state: 'active', created, error: null })
  assert.is(response.headers.location, `${service.url}/v4/webhook/${id}`)
  assert.equal(expect(200, await ann.get(`/v4/webhook/${id}`)).json(), shown)
  const other = expect(201, await ann.post('/v4/webhook', { url: URL })).json() as CreatedWebhook
  const ids = async () => (expect(200, await ann.get('/v4/webhook')).json() as ShownWebhook[]).map((one) => one.id)
  assert.equal(await ids(), [id, other.id])
  const changed = { ...shown, url: 'https://example.com:8443/', description: null, state: 'paused' }
  assert.equal(expect(200, await ann.patch(`/v4/webhook/${id}`, changed)).json(), changed)
  assert.is(
    (expect(200, await ann.patch(`/v4/webhook/${id}`, { state: 'active' })).json() as ShownWebhook).state,
    'active',
  )
  expect(204, await ann.remove(`/v4/webhook/${id}`))
  expect(404, await ann.get(`/v4/webhook/${id}`))
  expect(404, await ann.remove(`/v4/webhook/${id}`))
  assert.equal(await ids(), [other.id])
})

test('are accessible only to their owner', async ({ service, bob }) => {
  const ann = await service.newVendor()
  const { id } = expect(201, await ann.post('/v4/webhook', { url: URL })).json() as CreatedWebhook
  const requests = [
    { path: `/v4/webhook/${id}` },
    { path: `/v4/webhook/${id}`, method: 'PATCH', json: { state: 'paused' } },
    { path: `/v4/webhook/${id}`, method: 'DELETE' },
    { path: `/v4/webhook/${id}/test`, method: 'POST' },
    { path: `/v4/webhook/${id}/secret`, method: 'POST' },
    { path: `/v4/webhook/${id}/deliveries` },
  ]
  for (const one of requests) {
    expect(403, await bob.send(one))
    expect(401, await service.send(one))
    for (const none of ['999999', '0', 'x', '99999999999999999999']) {
      expect(404, await bob.send({ ...one, path: one.path.replace(String(id), none) }))
    }
  }
  assert.equal(expect(200, await bob.get('/v4/webhook')).json(), [])
  expect(204, await ann.remove(`/v4/webhook/${id}`))
  expect(404, await bob.get(`/v4/webhook/${id}`))
})

test('are at most ten, also if they are created concurrently', async ({ service }) => {
  const ann = await service.newVendor()
  const responses = await Promise.all(Array.from({ length: 14 }, () => ann.post('/v4/webhook', { url: URL })))
  assert.is(responses.filter(({ status }) => status === 201).length, 10)
  const refused = responses.find(({ status }) => status !== 201)
  assert.match(refused?.text ?? '', /at most 10 webhooks/)
  assert.is(refused?.status, 422)
  const [{ id } = { id: 0 }] = (await ann.get('/v4/webhook')).json() as ShownWebhook[]
  expect(204, await ann.remove(`/v4/webhook/${id}`))
  expect(201, await ann.post('/v4/webhook', { url: URL }))
})

test('have trimmed URLs and descriptions', async ({ ann }) => {
  const {
    id,
    secret: _,
    ...shown
  } = expect(201, await ann.post('/v4/webhook', { url: ` ${URL}\n`, description: '  Stock ' })).json() as CreatedWebhook
  assert.is(shown.url, URL)
  assert.is(shown.description, 'Stock')
  const changed = expect(200, await ann.patch(`/v4/webhook/${id}`, { description: '\tAll ' })).json() as ShownWebhook
  assert.is(changed.description, 'All')
})

test('are rejected with the location of each error', async ({ ann }) => {
  const bad: readonly (readonly [body: unknown, at: readonly string[]])[] = [
    [{}, ['/url']],
    [{ url: 7 }, ['/url']],
    [{ url: 'example.com' }, ['/url']],
    [{ url: 'https://user:pw@example.com/' }, ['/url']],
    [{ url: 'https://example.com:22/' }, ['/url']],
    [{ url: URL, description: 'x'.repeat(501) }, ['/description']],
    [{ url: URL, adress: 'x' }, ['/adress']],
    [[], ['']],
    ['x', ['']],
  ]
  for (const [body, at] of bad) assert.equal(pointers(refusal(422, await ann.post('/v4/webhook', body))), at)
  const { id } = expect(201, await ann.post('/v4/webhook', { url: URL })).json() as CreatedWebhook
  for (const change of [{ state: 'failing' }, { state: 'x' }, { url: null }, { url: 'ftp://example.com' }]) {
    expect(422, await ann.patch(`/v4/webhook/${id}`, change))
  }
  expect(
    400,
    await ann.send({ method: 'POST', path: '/v4/webhook', body: '{', headers: { 'Content-Type': 'application/json' } }),
  )
})

test('are tested by a signed message, which both secrets sign after a rotation', async ({ ann, service }) => {
  const { clock } = service.installation.context
  const before = Math.floor(clock() / 1000)
  const receiver = await startReceiver()
  try {
    const { id, secret } = expect(201, await ann.post('/v4/webhook', { url: receiver.url })).json() as CreatedWebhook
    const tried = expect(200, await ann.post(`/v4/webhook/${id}/test`, undefined)).json() as {
      status: number
      error: null
    }
    assert.is(tried.status, 204)
    assert.is(tried.error, null)
    const [first] = receiver.messages
    assert.ok(first)
    assert.is(first.body.type, 'webhook.test')
    assert.equal(first.signatures, [signatureBy(secret, first)])
    assert.ok(before <= Number(first.timestamp) && Number(first.timestamp) <= clock() / 1000)
    const { secret: renewed } = expect(
      200,
      await ann.post(`/v4/webhook/${id}/secret`, undefined),
    ).json() as CreatedWebhook
    assert.is.not(renewed, secret)
    expect(200, await ann.post(`/v4/webhook/${id}/test`, undefined))
    const second = receiver.messages[1]
    assert.ok(second)
    assert.equal(second.signatures, [signatureBy(renewed, second), signatureBy(secret, second)])
    for (const either of [renewed, secret]) assert.equal(verified(either, second), second.body)
    assert.is.not(second.id, first.id)
  } finally {
    await receiver.stop()
  }
})

test('have encrypted secrets in the log', async ({ service }) => {
  const ann = await service.newVendor()
  const { secret } = expect(201, await ann.post('/v4/webhook', { url: URL })).json() as CreatedWebhook
  const events = await service.installation.store.readStream(`webhooks-${ann.account}`)
  assert.is(events.length, 1)
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const text = JSON.stringify(events[0]?.data)
  for (const form of ['utf8', 'base64', 'base64url', 'hex'] as const) {
    const shown = form === 'utf8' ? secret : bytes.toString(form)
    assert.not(text.includes(shown.replace(/=+$/, '')), `in ${form}`)
  }
})

test.run()

const publicOnly = apiSuite('a webhook of the internal network')

publicOnly('tells its owner no address in the result of a test', async ({ ann }) => {
  // Names below localhost are loopback without a query (RFC 6761).
  const { id } = expect(201, await ann.post('/v4/webhook', { url: 'https://db.localhost/' })).json() as CreatedWebhook
  const { status, error } = expect(200, await ann.post(`/v4/webhook/${id}/test`, undefined)).json() as {
    status: null
    error: string
  }
  assert.is(status, null)
  assert.is(error, 'db.localhost does not resolve to an address of the public internet')
})

publicOnly.run()
