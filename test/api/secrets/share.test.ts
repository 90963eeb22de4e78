import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { revokeApiToken } from '../../../src/commands/accounts/api-tokens.ts'
import { expect, request, type Request } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, untilDelivered, type Service } from '../harness/service.ts'
import { form, newSender, newToken, expectError, reveal, shared, shownIn, type Sender } from '../harness/secrets.ts'

type Given = { service: Service; url: string; ann: Sender; pro: Sender }
const test = suite<Given>('sharing a secret')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => 1_795_000_000_123 })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
  given.pro = await newSender(given.service.installation, 'pro')
})
test.after(({ service }) => service.stop())

const KEYS =
  'custid metadata_key secret_key ttl metadata_ttl secret_ttl state updated created recipient share_domain ' +
  'passphrase_required'

test('returns 200 with the attributes in the order and types of the original', async ({ url, ann }) => {
  const response = expect(200, await request(url, form('/api/v1/share', 'secret=x&ttl=3600', ann.authorization)))
  const { metadata_key, secret_key, ...rest } = shownIn(response)
  assert.is(Object.keys(shownIn(response)).join(' '), KEYS)
  assert.match(metadata_key, /^[0-9a-z]{50}$/)
  assert.match(secret_key, /^[0-9a-z]{50}$/)
  assert.equal(rest, {
    custid: ann.email,
    ttl: 3600,
    metadata_ttl: 7200,
    secret_ttl: 3600,
    state: 'new',
    updated: 1_795_000_000,
    created: 1_795_000_000,
    recipient: [],
    share_domain: '',
    passphrase_required: false,
  })
  assert.is(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.is(response.headers['cache-control'], 'no-store')
})

const MULTIPART = (text: string) =>
  `--b\r\nContent-Disposition: form-data; name="secret"\r\n\r\n${text}\r\n--b\r\nContent-Disposition: form-data; name="ttl"\r\n\r\n60\r\n--b--\r\n`

/** Each request shares `a b&c` for 60 seconds. */
const ENCODINGS: Readonly<Record<string, (path: string) => Request>> = {
  'a form with + for a space': (path) => form(path, 'secret=a+b%26c&ttl=60'),
  'a form with %20 for a space and a trailing &': (path) => form(path, 'secret=a%20b%26c&ttl=60&'),
  'a form without a content type': (path) => ({ method: 'POST', path, body: 'secret=a+b%26c&ttl=60' }),
  'a form with empty parameters': (path) => form(path, 'secret=a+b%26c&ttl=60&passphrase=&recipient=&notify='),
  'the query alone': (path) => ({ method: 'POST', path: `${path}?secret=a%20b%26c&ttl=60` }),
  'the query and an empty form': (path) => form(`${path}?secret=a+b%26c&ttl=60`, ''),
  'the query and a body, which wins': (path) => form(`${path}?secret=other&ttl=60`, 'secret=a+b%26c'),
  multipart: (path) => ({
    method: 'POST',
    path,
    body: MULTIPART('a b&c'),
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  }),
  'multipart, in chunks, with a quoted boundary': (path) => ({
    method: 'POST',
    path,
    body: [Buffer.from(MULTIPART('a b&c').slice(0, 30)), Buffer.from(MULTIPART('a b&c').slice(30))],
    headers: { 'Content-Type': 'multipart/form-data; charset=utf-8; boundary="b"' },
  }),
  'multipart with a file': (path) => ({
    method: 'POST',
    path: `${path}?ttl=60`,
    body: '--b\r\ncontent-disposition: form-data; name=secret; filename="s.txt"\r\nContent-Type: text/plain\r\n\r\na b&c\r\n--b--',
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  }),
  JSON: (path) => ({ method: 'POST', path, json: { secret: 'a b&c', ttl: 60, passphrase: null, recipient: [] } }),
}

for (const [name, encode] of Object.entries(ENCODINGS)) {
  test(`reads ${name}`, async ({ url, ann }) => {
    const sent = encode('/api/v1/share')
    const headers = { ...sent.headers, Authorization: ann.authorization }
    const secret = shownIn(await request(url, { ...sent, headers }))
    assert.is(secret['ttl'], 60)
    assert.is(shownIn(await reveal(url, secret.secret_key)).value, 'a b&c')
  })
}

test('is also available as create', async ({ url, ann }) => {
  const { secret_key } = shownIn(await request(url, form('/api/v1/create', 'secret=x', ann.authorization)))
  assert.is(shownIn(await reveal(url, secret_key)).value, 'x')
})

test('clamps the ttl silently and returns the effective one', async ({ url, ann }) => {
  const expected = {
    '': 604_800,
    '0': 604_800,
    '1': 60,
    '60': 60,
    '2592000': 2_592_000,
    '99999999999999999999': 2_592_000,
  }
  for (const [ttl, inForce] of Object.entries(expected)) {
    const secret = await shared(url, ann, { secret: 'x', ttl })
    assert.equal([secret['ttl'], secret['metadata_ttl'], secret['secret_ttl']], [inForce, 2 * inForce, inForce])
  }
})

test('rejects an empty secret with the message of the original', async ({ url, ann }) => {
  for (const body of ['', 'secret=', 'ttl=60', 'secret'])
    expectError(
      await request(url, form('/api/v1/share', body, ann.authorization)),
      422,
      'You did not provide anything to share',
    )
})

test('accepts as many code points as the plan allows and truncates nothing', async ({ url, ann, pro }) => {
  for (const [sender, limit] of [
    [ann, 1000],
    [pro, 10_000],
  ] as const) {
    const longest = '💎'.repeat(limit)
    const { secret_key } = await shared(url, sender, { secret: longest })
    assert.ok(shownIn(await reveal(url, secret_key)).value === longest)
    const body = `secret=${'x'.repeat(limit + 1)}`
    expect(413, await request(url, form('/api/v1/share', body, sender.authorization)))
  }
})

test('reads a secret of 10,000 characters from the query', async ({ url, pro }) => {
  const longest = '💎'.repeat(10_000)
  const path = `/api/v1/share?secret=${encodeURIComponent(longest)}`
  const response = await request(url, { method: 'POST', path, headers: { Authorization: pro.authorization } })
  assert.ok(shownIn(await reveal(url, shownIn(response).secret_key)).value === longest)
})

test('reports why a body cannot be read', async ({ url, ann }) => {
  const send = (options: Request) =>
    request(url, { method: 'POST', ...options, headers: { ...options.headers, Authorization: ann.authorization } })
  const path = '/api/v1/share'
  const json = { 'Content-Type': 'application/json' }
  expectError(await send({ path, body: '{"secret":"hidden', headers: json }), 400, 'The body is not valid JSON')
  expectError(await send({ path, body: '[1]', headers: json }), 400, 'The body must be a JSON object')
  expectError(await send({ path, body: '{"secret":1}', headers: json }), 422, 'secret must be text')
  expect(422, await send({ path, body: '{"secret":"\\ud800"}', headers: json }))
  expectError(await send(form(path, 'secret=%ff')), 400, 'The parameters must be UTF-8 text')
  expect(415, await send({ path, body: 'secret=x', headers: { 'Content-Type': 'text/plain' } }))
  expect(400, await send({ path, body: 'x', headers: { 'Content-Encoding': 'gzip' } }))
  expect(415, await send({ path, body: 'x', headers: { 'Content-Encoding': 'zstd' } }))
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' }
  expect(400, await send({ path, body: '--b\r\nnothing', headers: multipart }))
  expect(413, await send({ path, body: `secret=${'x'.repeat(1024 * 1024)}` }))
})

test('treats an empty body of any type as no parameters', async ({ url, ann }) => {
  const headers = { 'Content-Type': 'text/plain', Authorization: ann.authorization }
  expect(200, await request(url, { method: 'POST', path: '/api/v1/share?secret=x', body: '', headers }))
})

test('generates 12 characters, returns them once and ignores a given secret', async ({ url, ann }) => {
  const sent = form('/api/v1/generate', 'secret=mine&ttl=60', ann.authorization)
  const { value, secret_key, metadata_key, ...rest } = shownIn(await request(url, sent))
  assert.match(value, /^[^ilo1IO0]{12}$/)
  assert.is(rest['ttl'], 60)
  const metadata = shownIn(await request(url, { path: `/api/v1/private/${metadata_key}` }))
  assert.not.ok('value' in metadata)
  assert.is(metadata.state, 'new')
  assert.is(shownIn(await reveal(url, secret_key)).value, value)
})

test('records its sender and its request id', async ({ url, ann, service }) => {
  const response = await request(url, form('/api/v1/share', 'secret=x', ann.authorization))
  const events = []
  for await (const event of service.installation.store.readAll('start', { prefixes: ['secret-'] })) events.push(event)
  const metadata = events.at(-1)?.metadata
  assert.is(metadata?.['$correlationId'], response.headers['x-request-id'])
  assert.is(metadata?.['actor'], `account-${ann.account}`)
})

test('requires the valid, non-empty credentials of an account', async ({ url, ann }) => {
  const bad = ['Basic Og==', 'Basic !', 'Basic', 'Bearer x', `Basic ${Buffer.from(`${ann.email}:`).toString('base64')}`]
  for (const authorization of [undefined, ...bad]) {
    for (const path of ['share', 'create', 'generate'])
      expectError(await request(url, form(`/api/v1/${path}`, 'secret=x', authorization)), 401, 'Not authorized')
  }
})

test('requires a token that is not revoked', async ({ service, url, ann }) => {
  const { authorization, tokenId } = await newToken(service.installation, ann.email)
  const share = () => request(url, form('/api/v1/share', 'secret=x', authorization))
  expect(200, await share())
  const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
  await revokeApiToken(service.installation.context, { email: ann.email, token: tokenId }, origin)
  await untilDelivered('the revocation', async () => (await share()).status === 401)
  expectError(await share(), 401, 'Not authorized')
})

test('rejects an invalid recipient, for shared and generated secrets', async ({ url, ann }) => {
  for (const path of ['share', 'generate']) {
    const options = form(`/api/v1/${path}`, 'secret=x&recipient=nobody', ann.authorization)
    assert.match(expect(422, await request(url, options)).text, 'nobody')
  }
})

test.run()

const open = suite<Given>('sharing a secret without an account')
open.before(async (given) => {
  given.service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { SECRETS_ANONYMOUS: 'true' },
  })
  given.url = given.service.url
})
open.after(({ service }) => service.stop())

open('is anonymous, with the limits of the basic plan', async ({ url }) => {
  for (const authorization of [undefined, 'Basic Og==']) {
    const secret = shownIn(await request(url, form('/api/v1/share', 'secret=x', authorization)))
    assert.is(secret['custid'], 'anon')
    assert.is(shownIn(await reveal(url, secret.secret_key)).value, 'x')
  }
  expect(413, await request(url, form('/api/v1/share', `secret=${'x'.repeat(1001)}`)))
})

open('cannot send emails', async ({ url }) => {
  for (const sent of ['recipient=a@example.com', 'notify=true', 'notify=True', 'notify=1'])
    expectError(
      await request(url, form('/api/v1/share', `secret=x&${sent}`)),
      422,
      'An account is required to send emails.',
    )
})

open('still rejects wrong credentials', async ({ url }) => {
  expectError(await request(url, form('/api/v1/share', 'secret=x', 'Basic YTpi')), 401, 'Not authorized')
})

open.run()
