import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { VERSION } from '../../src/runtime/version.ts'
import { StoreUnavailable } from '../../src/stores/ports/event-store.ts'
import { expect, type ApiResponse, type Request } from './harness/request.ts'
import { form, newSender, reveal, shownIn, post } from './harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

type Context = { service: Service; open: Service }
const test = suite<Context>('the front page')
test.before(async (context) => {
  context.service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { SECURITY_CONTACT: 'safe@example.com' },
  })
  context.open = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { SECRETS_ANONYMOUS: 'true' },
  })
})
test.after(async ({ service, open }) => {
  await service.stop()
  await open.stop()
})

/** Submits the form of the front page. */
const submitForm = (service: Service, fields: Readonly<Record<string, string>>, headers: Request['headers'] = {}) =>
  service.send({
    ...form('/share', new URLSearchParams(fields).toString()),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin', ...headers },
  })

/** The metadata key in the redirect of a response. */
function keyIn(response: ApiResponse): string {
  const key = /^private\/(\w+)$/.exec(String(expect(303, response).headers.location))?.[1]
  if (key === undefined) throw new Error(`redirected to ${response.headers.location}`)
  return key
}

test('returns links as JSON to a program and a page to a browser', async ({ service }) => {
  const response = expect(200, await service.send({ path: '/' }))
  const { name, version, links } = response.json() as { name: string; version: string; links: Record<string, string> }
  assert.equal([name, version], ['Adamant', VERSION])
  for (const link of Object.values(links)) {
    const { pathname } = new URL(link)
    const { status } = await service.send({ path: pathname })
    assert.ok([200, 401, 405].includes(status), `${pathname} is ${status}`)
  }
  const page = expect(200, await service.send({ path: '/', headers: BROWSER }))
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(String(page.headers.vary), /\bAccept(,|$)/)
  for (const [, href = ''] of page.text.matchAll(/href="([^"]*)"/g)) {
    if (!href.startsWith('data:')) expect(200, await service.send({ path: `/${href}` }))
  }
})

test('is linked from the header of the other pages, also at an address with trailing slashes', async ({ service }) => {
  for (const path of ['/docs', '/inventory', '/inventory/log-out', '/diamond/1', '/diamond/1/history', '/share']) {
    for (const slashes of ['', '/', '//']) {
      const { text } = await service.send({ path: path + slashes, headers: BROWSER })
      const [, href] = /<a class="home" href="([^"]*)"/.exec(text) ?? []
      assert.is(href && new URL(href, service.url + path + slashes).pathname, '/', path + slashes)
    }
  }
})

test('shares a secret from its form for the account of the given token', async ({ service }) => {
  const { email, token } = await newSender(service.installation)
  const key = keyIn(await submitForm(service, { secret: ' two\nlines ', passphrase: 'p', ttl: '3600', email, token }))
  const record = shownIn(await post(service.url, `private/${key}`))
  assert.equal([record['custid'], record['ttl'], record.state], [email, 3600, 'new'])
  const page = expect(200, await service.send({ path: `/private/${key}`, headers: BROWSER }))
  assert.match(page.text, `/secret/${record.secret_key}`)
  assert.is(shownIn(await reveal(service.url, record.secret_key, 'p')).value, ' two\nlines ')
})

test('needs no account if anonymous sharing is enabled', async ({ open }) => {
  const page = expect(200, await open.send({ path: '/', headers: BROWSER }))
  assert.not.match(page.text, 'API token')
  const key = keyIn(await submitForm(open, { secret: 'open' }))
  assert.is(shownIn(await post(open.url, `private/${key}`))['custid'], 'anon')
})

/** Checks that the page of an error has the form with all input but the token. */
function assertKeptInput({ text, headers }: ApiResponse, email: string): void {
  assert.match(text, '<h1>The secret was not shared</h1>')
  assert.match(text, />\n\na &lt;b&gt;<\/textarea>/)
  assert.match(text, /name="passphrase"[^>]* value="p-&quot;9"/)
  assert.match(text, `value="${email}"`)
  assert.match(text, /value="86400" selected/)
  assert.not.match(text, 'w-7')
  assert.is(headers['cache-control'], 'no-store')
}

test('keeps the input of its form after an error, except the token', async ({ service }) => {
  const { email, token } = await newSender(service.installation)
  const input = { secret: '\na <b>', passphrase: 'p-"9', ttl: '86400', email, token: 'w-7' }
  assertKeptInput(expect(403, await submitForm(service, input)), email)
  expect(403, await submitForm(service, { secret: 'x' }))
  expect(422, await submitForm(service, { secret: '', email, token }))
  const tooLong = expect(413, await submitForm(service, { secret: 'x'.repeat(20_000), email, token }))
  assert.match(tooLong.text, 'x'.repeat(20_000))
})

test('keeps the input of its form when too many forms were sent, and while a store is unavailable', async () => {
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { RATE_LIMIT: '1' },
    installation: (opened) => {
      opened.vault.put = () => Promise.reject(new StoreUnavailable('made unavailable by the test'))
      return opened
    },
  })
  try {
    const { email, token } = await newSender(service.installation)
    const input = { secret: '\na <b>', passphrase: 'p-"9', ttl: '86400', email, token }
    for (const status of [503, 429]) {
      const refused = expect(status, await submitForm(service, input))
      assertKeptInput(refused, email)
      assert.not.match(refused.text, token)
      assert.ok(Number(refused.headers['retry-after']) > 0)
    }
  } finally {
    await service.stop()
  }
})

test('rejects a form from another site', async ({ open }) => {
  const response = await submitForm(
    open,
    { secret: 'x' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
  )
  assert.match(expect(403, response).text, 'No link was created')
})

test('serves robots.txt, favicon.ico and security.txt', async ({ service, open }) => {
  const robots = expect(200, await service.send({ path: '/robots.txt' })).text
  assert.match(robots, /^User-agent: \*\n/)
  assert.match(robots, '\nDisallow: /\n')
  assert.is(expect(200, await service.send({ path: '/favicon.ico' })).headers['content-type'], 'image/svg+xml')
  const { headers, text: contact } = expect(200, await service.send({ path: '/.well-known/security.txt' }))
  assert.match(contact, /^Contact: mailto:safe@example\.com\nExpires: \d{4}-\d\d-\d\dT00:00:00\.000Z\n/)
  const [, expires = ''] = /Expires: (.*)/.exec(contact) ?? []
  assert.ok(Date.parse(expires) > Date.parse(headers.date ?? ''))
  expect(404, await open.send({ path: '/.well-known/security.txt' }))
})

test.run()
