import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import {
  basic,
  expectUnknownSecret,
  newSender,
  newToken,
  post,
  expectError,
  reveal,
  shared,
  shownIn,
  type Sender,
  form,
} from '../harness/secrets.ts'

type Given = { service: Service; url: string; ann: Sender; bob: Sender; time: { now: number } }
const test = suite<Given>('a shared secret')
test.before(async (given) => {
  given.time = { now: Date.UTC(2026, 10, 21) }
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => given.time.now })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
  given.bob = await newSender(given.service.installation)
})
test.after(({ service }) => service.stop())

const seconds = (ms: number) => Math.floor(ms / 1000)

test('is revealed once and unknown afterwards', async ({ url, ann }) => {
  const { secret_key } = await shared(url, ann, { secret: 'once' })
  const first = shownIn(await post(url, `secret/${secret_key}`))
  assert.equal(Object.entries(first), [
    ['value', 'once'],
    ['secret_key', secret_key],
    ['share_domain', ''],
  ])
  expectUnknownSecret(await post(url, `secret/${secret_key}`), secret_key)
})

test('is revealed to one of 50 concurrent requests with the same request id', async ({ url, ann }) => {
  const { secret_key } = await shared(url, ann, { secret: 'once' })
  const requests = Array.from({ length: 50 }, () => post(url, `secret/${secret_key}`, { 'X-Request-Id': 'the-same' }))
  const responses = await Promise.all(requests)
  assert.is(responses.filter(({ status }) => status === 200).length, 1)
  for (const response of responses.filter(({ status }) => status !== 200)) expectUnknownSecret(response, secret_key)
})

test('is not consumed by GET or HEAD, its metadata or link previews', async ({ url, ann }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'once' })
  for (const method of ['GET', 'HEAD'])
    for (const path of [`/api/v1/secret/${secret_key}`, `/secret/${secret_key}`, `/private/${metadata_key}`])
      await request(url, { method, path, headers: { 'User-Agent': 'Slackbot-LinkExpanding 1.0' } })
  expect(405, await request(url, { path: `/api/v1/secret/${secret_key}` }))
  assert.is(shownIn(await post(url, `private/${metadata_key}`)).state, 'new')
  assert.is(shownIn(await post(url, `secret/${secret_key}`)).value, 'once')
})

test('that does not exist is unknown by either key', async ({ url }) => {
  for (const key of ['x', 'k'.repeat(50), 'a%20b']) {
    const shown = decodeURIComponent(key)
    expectUnknownSecret(await post(url, `secret/${key}`), shown)
    expectUnknownSecret(await post(url, `private/${key}`), shown)
    expectUnknownSecret(await request(url, { path: `/api/v1/private/${key}` }), shown)
    expectUnknownSecret(await post(url, `private/${key}/burn`), shown)
  }
})

test('shows its metadata to every client with the key, by GET and POST and under every alias', async ({ url, ann }) => {
  const { value: _value, ...secret } = await shared(url, ann, { secret: 'x', passphrase: 'p' })
  for (const name of ['private', 'metadata', 'receipt']) {
    const path = `/api/v1/${name}/${secret.metadata_key}`
    for (const method of ['GET', 'POST']) assert.equal(shownIn(await request(url, { method, path })), secret)
    assert.equal(shownIn(await request(url, { path: `${path}?` })), secret)
  }
  assert.is(secret['passphrase_required'], true)
})

test('that was received shows the time, and no secret key', async ({ url, ann, time }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x', ttl: '3600' })
  time.now += 10_000
  await post(url, `secret/${secret_key}`)
  time.now += 10_000
  const metadata = shownIn(await request(url, { path: `/api/v1/private/${metadata_key}` }))
  assert.is(metadata.state, 'received')
  assert.is(metadata['received'], seconds(time.now) - 10)
  assert.is(metadata['updated'], seconds(time.now) - 10)
  assert.is(metadata['metadata_ttl'], 7180)
  for (const removed of ['secret_key', 'secret_ttl', 'passphrase_required']) assert.not.ok(removed in metadata)
})

test('expires when its ttl ends, and is forgotten after twice the ttl', async ({ url, ann, time }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x', ttl: '60' })
  const path = `/api/v1/private/${metadata_key}`
  time.now += 59_999
  assert.is(shownIn(await request(url, { path }))['secret_ttl'], 1)
  time.now += 1
  expectUnknownSecret(await post(url, `secret/${secret_key}`), secret_key)
  expectUnknownSecret(await post(url, `private/${metadata_key}/burn`), metadata_key)
  const metadata = shownIn(await request(url, { path }))
  assert.is(metadata.state, 'expired')
  assert.is(metadata['updated'], seconds(time.now))
  assert.not.ok('secret_key' in metadata)
  time.now += 60_000
  expectUnknownSecret(await request(url, { path }), metadata_key)
})

test('is burned once, with a response in both formats that clients read, and cannot be revealed afterwards', async ({
  url,
  ann,
}) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x' })
  const burned = shownIn(await post(url, `private/${metadata_key}/burn`))
  const { state, status, secret_shortkey, ...attributes } = burned
  assert.is(status, 'burned')
  assert.is(secret_shortkey, secret_key.slice(0, 6))
  assert.equal(state, { ...attributes, state: 'burned' })
  assert.is(burned.secret_key, '')
  expectUnknownSecret(await post(url, `secret/${secret_key}`), secret_key)
  expectUnknownSecret(await post(url, `private/${metadata_key}/burn`), metadata_key)
  assert.is(shownIn(await post(url, `private/${metadata_key}`)).state, 'burned')
})

test('with a passphrase can be burned without it only by its owner', async ({ url, ann, bob }) => {
  const { metadata_key } = await shared(url, ann, { secret: 'x', passphrase: 'p' })
  const burn = (headers = {}) => post(url, `private/${metadata_key}/burn`, headers)
  expectUnknownSecret(await burn(), metadata_key)
  expectUnknownSecret(await burn({ Authorization: bob.authorization }), metadata_key)
  expect(200, await burn({ Authorization: ann.authorization }))
})

test('with a passphrase is revealed by the right one after four wrong ones', async ({ url, ann }) => {
  const { secret_key } = await shared(url, ann, { secret: 'x', passphrase: 'pä ss+' })
  for (const wrong of ['', 'wrong', 'pä ss', 'PÄ SS+', 'other'])
    expectUnknownSecret(await reveal(url, secret_key, wrong), secret_key)
  expectUnknownSecret(await post(url, `secret/${secret_key}`), secret_key)
  assert.is(shownIn(await reveal(url, secret_key, 'pä ss+')).value, 'x')
})

test('is locked for all clients for thirty minutes after five wrong passphrases', async ({ url, ann, time }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x', passphrase: 'p' })
  const guesses = await Promise.all(Array.from({ length: 12 }, () => reveal(url, secret_key, 'wrong')))
  assert.equal(guesses.map(({ status }) => status).sort(), [...Array(5).fill(404), ...Array(7).fill(429)])
  const locked = expect(429, await reveal(url, secret_key, 'p'))
  assert.is(locked.headers['retry-after'], '1800')
  expect(429, await post(url, `secret/${secret_key}`))
  assert.is(shownIn(await post(url, `private/${metadata_key}`)).state, 'new')
  time.now += 1_800_000
  assert.is(shownIn(await reveal(url, secret_key, 'p')).value, 'x')
})

test('is never revealed with wrong credentials', async ({ url, ann }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x' })
  const Authorization = basic(ann.email, 'wrong')
  for (const path of [`secret/${secret_key}`, `private/${metadata_key}`, `private/${metadata_key}/burn`])
    expectError(await post(url, path, { Authorization }), 401, 'Not authorized')
  for (const right of ['Basic Og==', ann.authorization])
    assert.is(shownIn(await post(url, `private/${metadata_key}`, { Authorization: right })).state, 'new')
})

test('is listed among the recent secrets of its owner, newest first, until it is forgotten', async ({
  service,
  url,
  time,
}) => {
  const eve = await newSender(service.installation)
  const other = await newToken(service.installation, eve.email)
  const recent = async (authorization: string, name = 'private') =>
    shownIn(await request(url, { path: `/api/v1/${name}/recent`, headers: { Authorization: authorization } }))
  assert.equal(await recent(eve.authorization), [])
  const first = await shared(url, eve, { secret: 'x', ttl: '60' })
  time.now += 1000
  const second = await shared(url, { ...eve, ...other }, { secret: 'y' })
  const shown = await recent(eve.authorization)
  assert.ok(Array.isArray(shown))
  assert.equal(
    shown.map(({ metadata_key, secret_key }) => ({ metadata_key, secret_key })),
    [
      { metadata_key: null, secret_key: null },
      { metadata_key: first.metadata_key, secret_key: null },
    ],
  )
  const [mine] = Object.values(await recent(other.authorization, 'metadata')) as { metadata_key: string }[]
  assert.is(mine?.metadata_key, second.metadata_key)
  time.now += 120_000
  assert.is(Object.values(await recent(eve.authorization)).length, 1)
  time.now += 30 * 86_400_000
  assert.equal(await recent(eve.authorization), [])
})

test('is not listed without credentials', async ({ url }) => {
  expectError(await request(url, { path: '/api/v1/private/recent' }), 401, 'Not authorized')
})

test.run()

const api = suite<Given>('the secrets API')
api.before(async (given) => {
  given.service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { RATE_LIMIT: '20', TRUST_PROXY: '1' },
  })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
})
api.after(({ service }) => service.stop())

const from = (address: string, headers = {}) => ({ 'X-Forwarded-For': address, ...headers })

api('returns its status without credentials, and checks credentials by authcheck', async ({ url, ann }) => {
  const nominal = { status: 'nominal', locale: 'en' }
  for (const path of ['/api/v1/status', '/api/v1/status?'])
    assert.equal(shownIn(await request(url, { path, headers: { Authorization: 'Basic Og==' } })), nominal)
  const authcheck = (Authorization: string) => request(url, { path: '/api/v1/authcheck', headers: { Authorization } })
  assert.equal(shownIn(await authcheck(ann.authorization)), nominal)
  for (const wrong of ['Basic Og==', 'Bearer x', basic(ann.email, 'x'), basic('nobody@example.com', ann.token)])
    expectError(await authcheck(wrong), 401, 'Not authorized')
})

api('returns Not Found for an unknown path', async ({ url }) => {
  expectError(await request(url, { path: '/api/v1/nothing' }), 404, 'Not Found')
  expectError(await request(url, { path: '/api/v1' }), 404, 'Not Found')
})

api('limits requests per address, with the message of the original', async ({ url }) => {
  const status = (address: string) => request(url, { path: '/api/v1/status', headers: from(address) })
  for (let sent = 0; sent < 20; sent++) expect(200, await status('192.0.2.1'))
  expectError(await status('192.0.2.1'), 429, 'Apologies dear citizen! You have been rate limited.')
  const page = { ...form('/share', 'secret=x'), headers: { ...form('', '').headers, ...from('192.0.2.1') } }
  assert.match(expect(429, await request(url, page)).text, 'No link was created')
  expect(200, await status('192.0.2.2'))
})

api('limits requests per account, whatever their address', async ({ url, service }) => {
  const eve = await newSender(service.installation)
  const check = (n: number) =>
    request(url, { path: '/api/v1/authcheck', headers: from(`198.51.100.${n}`, { Authorization: eve.authorization }) })
  for (let sent = 0; sent < 20; sent++) expect(200, await check(sent))
  const limited = expect(429, await check(99))
  assert.ok(Number(limited.headers['retry-after']) > 590)
})

api('limits requests for at most ten minutes, also after the clock was a month ahead', async () => {
  const time = { now: Date.now() + 30 * 86_400_000 }
  const limited = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    clock: () => time.now,
    settings: { RATE_LIMIT: '2' },
  })
  const check = () => request(limited.url, { path: '/api/v1/status' })
  expect(200, await check())
  time.now -= 30 * 86_400_000
  expect(200, await check())
  const { headers } = expect(429, await check())
  assert.ok(Number(headers['retry-after']) <= 600, String(headers['retry-after']))
  await limited.stop()
})

api('limits guesses at API tokens, and still accepts the right one', async () => {
  const unlimited = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { TRUST_PROXY: '1' } })
  const eve = await newSender(unlimited.installation)
  const check = (Authorization: string, n: number) =>
    request(unlimited.url, { path: '/api/v1/authcheck', headers: from(`203.0.113.${n}`, { Authorization }) })
  for (let guess = 1; guess < 50; guess++) expect(401, await check(basic(eve.email, `guess ${guess}`), 1))
  expect(429, await check(basic(eve.email, 'guess'), 1))
  expect(401, await check(basic(eve.email, 'guess'), 2))
  expect(200, await check(eve.authorization, 1))
  await unlimited.stop()
})

api.run()
