import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request, type ApiResponse, type Request } from '../harness/request.ts'
import { form, newSender, shared, type Sender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'

type Given = { service: Service; ann: Sender; send: (options: Request) => Promise<ApiResponse> }
const test = suite<Given>('a secret page')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  given.ann = await newSender(given.service.installation)
  given.send = (options) => request(given.service.url, options)
})
test.after(({ service }) => service.stop())

/** Directives of the Content-Security-Policy by name. */
const policyOf = ({ headers }: ApiResponse) =>
  new Map(
    String(headers['content-security-policy'])
      .split('; ')
      .map((directive) => directive.split(' '))
      .map(([name = '', ...sources]) => [name, sources.join(' ')]),
  )

const hashes = (text: string, tag: string) =>
  [...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(
    ([, inner = '']) => `'sha256-${createHash('sha256').update(inner).digest('base64')}'`,
  )

/** Expects the protective headers and policy that every page has. */
function expectProtected(response: ApiResponse): void {
  const { headers, text } = response
  assert.is(headers['content-type'], 'text/html; charset=utf-8')
  assert.is(headers['cache-control'], 'no-store')
  assert.is(headers['x-content-type-options'], 'nosniff')
  assert.is(headers['referrer-policy'], 'no-referrer')
  assert.is(headers['x-frame-options'], 'DENY')
  assert.is(headers['x-robots-tag'], 'noindex, nofollow')
  const policy = policyOf(response)
  for (const name of ['default-src', 'frame-ancestors', 'base-uri']) assert.is(policy.get(name), "'none'", name)
  assert.is(policy.get('form-action'), "'self'")
  assert.not.match(String(headers['content-security-policy']), /unsafe|https?:|\*/)
  assert.equal(hashes(text, 'style'), [policy.get('style-src')])
  for (const hash of hashes(text, 'script')) assert.is(hash, policy.get('script-src'))
  assert.not.match(text, /(?:src|href)="(?!data:,"|(?:\.\.\/)+")/)
  assert.not.match(text, / (?:style|on\w+)="/)
}

test('opens for a link to which a mail program has added characters, and reveals the secret there', async (given) => {
  const { service, ann, send } = given
  for (const suffix of ['.', ',', ')', '%3E', ';', '%20', '%0A', '%E2%80%8B', ').', '%22', '/', '?utm_source=mail']) {
    const secret = await shared(service.url, ann, { secret: 'hidden value' })
    const path = `/secret/${secret.secret_key}${suffix}`
    expect(200, await send({ path }))
    expect(200, await send({ path: `/private/${secret.metadata_key}${suffix}` }))
    const [page = ''] = path.split('?')
    assert.match(expect(200, await send(form(page, ''))).text, 'hidden value', suffix)
  }
  const { secret_key } = await shared(service.url, ann, { secret: 'hidden value' })
  for (const path of [`/secret/${secret_key}a`, `/secret/${secret_key.slice(1)}.`, '/secret/.'])
    expect(404, await send({ path }))
})

test('is protected from caches, frames, search engines and referrers, and runs only its own script', async (given) => {
  const { service, ann, send } = given
  const secret = await shared(service.url, ann, { secret: 'x', passphrase: 'p', recipient: 'tom@example.com' })
  const reader = `/secret/${secret.secret_key}`
  const sender = `/private/${secret.metadata_key}`
  expectProtected(expect(200, await send({ path: reader })))
  expectProtected(expect(404, await send(form(reader, 'passphrase=wrong'))))
  expectProtected(expect(200, await send({ path: sender })))
  expectProtected(expect(200, await send({ path: `${sender}/burn` })))
  expectProtected(expect(404, await send(form(`${sender}/burn`, 'passphrase=wrong'))))
  const shown = expect(200, await send(form(reader, 'passphrase=p')))
  expectProtected(shown)
  assert.match(shown.text, '<pre id="value"')
  expectProtected(expect(200, await send({ path: sender })))
})

test('is also protected if the secret is unknown or locked, or the request is invalid', async ({
  service,
  ann,
  send,
}) => {
  for (const path of ['/secret/x', '/private/x', '/private/x/burn']) expectProtected(expect(404, await send({ path })))
  expectProtected(expect(405, await send({ method: 'DELETE', path: '/secret/x' })))
  expectProtected(expect(400, await send(form('/secret/x', 'passphrase=%ff'))))
  const { secret_key } = await shared(service.url, ann, { secret: 'x', passphrase: 'p' })
  for (let guess = 0; guess < 5; guess++) await send(form(`/secret/${secret_key}`, 'passphrase=wrong'))
  expectProtected(expect(429, await send({ path: `/secret/${secret_key}` })))
})

test('redirects to the receipt after burning, and the redirect is not cached', async (given) => {
  const { service, ann, send } = given
  const { metadata_key } = await shared(service.url, ann, { secret: 'x' })
  const burned = expect(303, await send(form(`/private/${metadata_key}/burn`, '')))
  assert.is(burned.headers.location, `../${metadata_key}`)
  assert.is(burned.headers['cache-control'], 'no-store')
  expectProtected(expect(200, await send({ path: `/private/${metadata_key}` })))
})

test('works at an address with trailing slashes', async ({ service, ann, send }) => {
  for (const slashes of ['', '/', '//']) {
    const { metadata_key } = await shared(service.url, ann, { secret: 'x' })
    const receipt = `/private/${metadata_key}${slashes}`
    const [, action = ''] = /<form method="post" action="([^"]*)"/.exec((await send({ path: receipt })).text) ?? []
    const burn = new URL(action, service.url + receipt).pathname + slashes
    const burned = expect(303, await send(form(burn, '')))
    const { pathname } = new URL(String(burned.headers.location), service.url + burn)
    assert.is(pathname, `/private/${metadata_key}`)
    assert.match(expect(200, await send({ path: pathname })).text, /was burned/)
  }
})

test('has the same passphrase input everywhere, without autocompletion', async ({ service, ann, send }) => {
  const secret = await shared(service.url, ann, { secret: 'x', passphrase: 'p' })
  const input = /<input\s[^>]*>/s
  const [one] = input.exec((await send({ path: `/secret/${secret.secret_key}` })).text) ?? []
  const [other] = input.exec((await send({ path: `/private/${secret.metadata_key}` })).text) ?? []
  assert.ok(one?.includes('autocomplete="off"') && one.includes('type="password"'), one)
  assert.is(other, one)
})

test('says what its own address opens: nothing without the passphrase, if there is one', async ({
  service,
  ann,
  send,
}) => {
  for (const [parameters, text] of [
    [{ secret: 'x' }, 'anyone who has it can read'],
    [{ secret: 'x', passphrase: 'p' }, 'anyone who has it and the passphrase can read'],
  ] as const) {
    const { metadata_key } = await shared(service.url, ann, parameters)
    const page = expect(200, await send({ path: `/private/${metadata_key}` }))
    assert.match(page.text.replaceAll(/\s+/g, ' '), text)
  }
})

test('is 429 after too many attempts at its passphrase, also for burning', async ({ service, ann, send }) => {
  const { metadata_key } = await shared(service.url, ann, { secret: 'x', passphrase: 'p' })
  for (let guess = 0; guess < 5; guess++) await send(form(`/private/${metadata_key}/burn`, 'passphrase=wrong'))
  expectProtected(expect(429, await send(form(`/private/${metadata_key}/burn`, 'passphrase=p'))))
  expect(429, await send(form(`/api/v1/private/${metadata_key}/burn`, 'passphrase=p')))
})

test.run()
