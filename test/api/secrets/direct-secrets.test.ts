import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request, type Answer, type Request } from '../harness/request.ts'
import { startService, type Service } from '../harness/service.ts'
import { basic, newSender, reveal, shared, shownIn, type Sender } from '../harness/secrets.ts'

type Given = { service: Service; url: string; ann: Sender }
const test = suite<Given>('a secret shared or read without the framework')
test.before(async (given) => {
  given.service = await startService({ clock: () => 1_795_000_000_123 })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
})
test.after(({ service }) => service.stop())

/** Whom a proxy speaks for is left to the framework's routes. */
const ROUTED = { 'X-Forwarded-For': '127.0.0.1' }

/** Without what differs between two answers to the same: the keys, the request, the date. */
function comparable({ status, headers, text }: Answer) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, headers: Object.entries(rest).toSorted(), text: text.replaceAll(/[0-9a-z]{50}/g, 'KEY') }
}

async function bothWays(url: string, ask: Request): Promise<[Answer, Answer]> {
  return [await request(url, ask), await request(url, { ...ask, headers: { ...ask.headers, ...ROUTED } })]
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

const shares: readonly (readonly [path: string, body: string, headers: Record<string, string>])[] = [
  ['/api/v1/share', '{"secret":"x","ttl":60}', JSON_TYPE],
  ['/api/v1/create', 'secret=a+b%26c&ttl=60&passphrase=long+enough', FORM_TYPE],
  ['/api/v1/share?secret=y', 'ttl=60', FORM_TYPE],
  ['/api/v1/share', '', FORM_TYPE],
  ['/api/v1/share', 'secret=x', {}],
  ['/api/v1/share', '{"secret":', JSON_TYPE],
  ['/api/v1/share', '[]', JSON_TYPE],
  ['/api/v1/share', 'secret=%FF', FORM_TYPE],
  ['/api/v1/share', 'secret=x&ttl=-1', FORM_TYPE],
  ['/api/v1/share', 'secret=x&secret=y', FORM_TYPE],
  ['/api/v1/share', `{"secret":"${'x'.repeat(1024 * 1024)}"}`, JSON_TYPE],
  ['/api/v1/share', '{"secret":"x"}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
  ['/api/v1/share', '{"secret":"x"}', { 'Content-Type': 'text/plain' }],
  ['/api/v1/share', '{"secret":"x"}', { ...JSON_TYPE, Authorization: basic('ann@example.com', 'wrong') }],
  ['/api/v1/share', '{"secret":"x"}', { ...JSON_TYPE, Authorization: 'Bearer x' }],
  ['/api/v1/share', '{"secret":"x"}', { ...JSON_TYPE, Authorization: '' }],
]

test('is answered as by the routes, whatever is shared', async ({ url, ann }) => {
  for (const [path, body, given] of shares) {
    const headers = { Authorization: ann.authorization, ...given }
    const [direct, routed] = await bothWays(url, { method: 'POST', path, body, headers })
    assert.equal(comparable(direct), comparable(routed), `${path} ${body.slice(0, 80)} ${JSON.stringify(given)}`)
  }
})

test('is read as by the routes, and by the second reader not at all', async ({ url, ann }) => {
  for (const headers of [{}, ROUTED]) {
    const { secret_key: key } = await shared(url, ann, { secret: 'the value' })
    const ask = { method: 'POST', path: `/api/v1/secret/${key}`, body: '{}', headers: { ...JSON_TYPE, ...headers } }
    assert.equal(shownIn(await request(url, ask)), { value: 'the value', secret_key: key, share_domain: '' })
    const [direct, routed] = await bothWays(url, { ...ask, headers: JSON_TYPE })
    assert.is(direct.status, 404)
    assert.equal(comparable(direct), comparable(routed))
  }
})

test('stays unread when the passphrase is wrong, as by the routes', async ({ url, ann }) => {
  const { secret_key: key } = await shared(url, ann, { secret: 'kept', passphrase: 'right one' })
  for (const body of ['passphrase=wrong', '', 'passphrase=a&passphrase=b']) {
    const ask = { method: 'POST', path: `/api/v1/secret/${key}`, body, headers: FORM_TYPE }
    const [direct, routed] = await bothWays(url, ask)
    assert.ok(direct.status >= 400, `${direct.status}`)
    assert.equal(comparable(direct), comparable(routed), body)
  }
  assert.is(shownIn(await reveal(url, key, 'right one'))['value'], 'kept')
})

test('counts for the same limits as by the routes', async () => {
  const service = await startService({ settings: { RATE_LIMIT: '3', SECRETS_ANONYMOUS: 'true' } })
  const ask = { method: 'POST', path: '/api/v1/share', body: 'secret=x', headers: FORM_TYPE }
  const answers = [...(await bothWays(service.url, ask)), ...(await bothWays(service.url, ask))]
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200, 200, 429],
  )
  const [direct, routed] = await bothWays(service.url, ask)
  assert.equal(comparable(expect(429, direct)), comparable(expect(429, routed)))
  await service.stop()
})

test('has its sender and its request in the log', async ({ url, ann, service }) => {
  const answer = await request(url, {
    method: 'POST',
    path: '/api/v1/share',
    body: 'secret=x',
    headers: { ...FORM_TYPE, Authorization: ann.authorization },
  })
  const events = []
  for await (const event of service.installation.store.readAll('start', { prefixes: ['secret-'] })) events.push(event)
  const metadata = events.at(-1)?.metadata
  assert.is(metadata?.['$correlationId'], answer.headers['x-request-id'])
  assert.match(String(metadata?.['actor']), /^account-\d+$/)
})

test.run()
