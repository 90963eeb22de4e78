import { hashSync } from 'bcryptjs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changeAccount } from '../../../src/commands/accounts/accounts.ts'
import { ann, cli } from '../../commands/accounts-on-disk.ts'
import { bearer, passwordGrant, withTokenServer } from './token-server.ts'

const test = suite('POST /api/oauth/v2/token')

test('answers a password grant with the members of RFC 6749, 5.1, and forbids caching', () =>
  withTokenServer(async ({ post, get }) => {
    const { status, headers, body } = await post('token', passwordGrant)
    assert.is(status, 200)
    assert.equal(Object.keys(body), ['access_token', 'expires_in', 'token_type', 'scope', 'refresh_token'])
    assert.is(body['expires_in'], 604_800)
    assert.is(body['token_type'], 'bearer')
    assert.is(body['scope'], 'user')
    assert.is(headers.get('cache-control'), 'no-store')
    assert.is(headers.get('pragma'), 'no-cache')
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
    assert.is((await get('/v4/whoami', bearer(body['access_token']))).status, 200)
  }))

test('accepts a password from before the password rules', () =>
  withTokenServer(async ({ post, process }) => {
    const { email } = ann
    await changeAccount(process, email, cli, () => [
      { type: 'PasswordChanged', data: { password: hashSync('secret', 4), epoch: 1 } },
    ])
    assert.is((await post('token', { ...passwordGrant, password: 'secret' })).status, 200)
  }))

test('reads parameters from the body and the query, and the body takes precedence', () =>
  withTokenServer(async ({ address, client }) => {
    const all = { ...passwordGrant, client_id: client.client, client_secret: client.secret }
    const asQuery = (values: Record<string, string>) => `${address}/api/oauth/v2/token?${new URLSearchParams(values)}`
    assert.is((await fetch(asQuery(all), { method: 'POST' })).status, 200)
    const body = new URLSearchParams({ password: passwordGrant.password })
    assert.is((await fetch(asQuery({ ...all, password: 'wrong' }), { method: 'POST', body })).status, 200)
  }))

test('issues a new refresh token with each refresh', () =>
  withTokenServer(async ({ post, get }) => {
    const first = await post('token', passwordGrant)
    const second = await post('token', {
      grant_type: 'refresh_token',
      refresh_token: String(first.body['refresh_token']),
    })
    assert.is(second.status, 200)
    assert.is.not(second.body['refresh_token'], first.body['refresh_token'])
    const third = await post('token', {
      grant_type: 'refresh_token',
      refresh_token: String(second.body['refresh_token']),
    })
    assert.is(third.status, 200)
    assert.is((await get('/v4/whoami', bearer(third.body['access_token']))).status, 200)
  }))

/** RFC 6749, section 5.2, with the texts of the platform. */
const REFUSED: readonly [what: string, form: Record<string, string>, status: number, error: string, text: string][] = [
  ['no grant type', {}, 400, 'invalid_request', 'Invalid grant_type parameter or parameter missing'],
  [
    'an unknown grant type',
    { grant_type: 'client_credentials' },
    400,
    'unsupported_grant_type',
    'Invalid grant_type parameter or parameter missing',
  ],
  [
    'no client',
    { ...passwordGrant, client_id: '' },
    401,
    'invalid_client',
    'Client id was not found in the headers or body',
  ],
  [
    'an unknown client',
    { ...passwordGrant, client_id: '9_x' },
    401,
    'invalid_client',
    'The client credentials are invalid',
  ],
  [
    'a wrong secret',
    { ...passwordGrant, client_secret: 'x' },
    401,
    'invalid_client',
    'The client credentials are invalid',
  ],
  ['no secret', { ...passwordGrant, client_secret: '' }, 401, 'invalid_client', 'The client credentials are invalid'],
  [
    'no password',
    { grant_type: 'password', username: 'a' },
    400,
    'invalid_request',
    "Missing parameters. 'username' and 'password' required",
  ],
  [
    'a wrong password',
    { ...passwordGrant, password: 'wrong' },
    400,
    'invalid_grant',
    'Invalid username and password combination',
  ],
  [
    'an unknown user',
    { ...passwordGrant, username: 'nobody@example.com' },
    400,
    'invalid_grant',
    'Invalid username and password combination',
  ],
  [
    'a password beyond 72 bytes',
    { ...passwordGrant, password: `${passwordGrant.password}${'x'.repeat(72)}` },
    400,
    'invalid_grant',
    'Invalid username and password combination',
  ],
  ['no refresh token', { grant_type: 'refresh_token' }, 400, 'invalid_request', "No 'refresh_token' parameter found"],
  [
    'an unknown refresh token',
    { grant_type: 'refresh_token', refresh_token: 'x' },
    400,
    'invalid_grant',
    'Invalid refresh token',
  ],
  ['another scope', { ...passwordGrant, scope: 'admin' }, 400, 'invalid_scope', 'An unsupported scope was requested.'],
]

for (const [description, form, status, error, text] of REFUSED) {
  test(`rejects ${description} as in RFC 6749, 5.2`, () =>
    withTokenServer(async ({ post }) => {
      const refused = await post('token', form)
      assert.equal([refused.status, refused.body], [status, { error, error_description: text }])
      assert.is(refused.headers.get('cache-control'), 'no-store')
      assert.is(refused.headers.get('www-authenticate'), null)
    }))
}

test('answers an unknown user and a wrong password with the same bytes after one comparison each', () =>
  withTokenServer(async ({ post, process }) => {
    const { comparisonCount } = process.passwords
    const wrong = await post('token', { ...passwordGrant, password: 'wrong' })
    const unknown = await post('token', { ...passwordGrant, username: 'nobody@example.com' })
    assert.is(unknown.text, wrong.text)
    assert.is(process.passwords.comparisonCount - comparisonCount, 2)
  }))

test('accepts the client in a Basic header, and challenges wrong credentials', () =>
  withTokenServer(async ({ post, client }) => {
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${client.client}:${secret}`).toString('base64')}`,
    })
    assert.is((await post('token', passwordGrant, basic(client.secret))).status, 200)
    const wrong = await post('token', passwordGrant, basic('wrong'))
    assert.is(wrong.status, 401)
    assert.is(wrong.body['error'], 'invalid_client')
    assert.match(wrong.headers.get('www-authenticate') ?? '', /^Basic realm=/)
    const both = await post('token', { ...passwordGrant, client_secret: client.secret }, basic(client.secret))
    assert.equal([both.status, both.body['error']], [400, 'invalid_request'])
  }))

test('accepts a JSON object, a multipart form and a form without a type, combined with the query', () =>
  withTokenServer(async ({ address, client }) => {
    const all = { ...passwordGrant, client_id: client.client, client_secret: client.secret }
    const query = new URLSearchParams(all).toString()
    const multipart = new FormData()
    for (const [name, value] of Object.entries(all)) multipart.set(name, value)
    const json = { 'content-type': 'application/json' }
    const variants: readonly (readonly [
      query: string,
      body: string | FormData | Buffer<ArrayBuffer>,
      headers: Record<string, string>,
    ])[] = [
      ['', JSON.stringify(all), json],
      ['', JSON.stringify(all), { 'content-type': 'application/json; charset=UTF-8' }],
      ['', JSON.stringify({ ...all, scope: null, state: '' }), json],
      [query, '{}', json],
      [query, '', json],
      [`${query}&scope=nothing`, '{"scope":"user"}', json],
      ['', multipart, {}],
      ['', Buffer.from(query), {}],
      [query, Buffer.from(''), {}],
    ]
    for (const [search, body, headers] of variants) {
      const response = await fetch(`${address}/api/oauth/v2/token?${search}`, { method: 'POST', body, headers })
      assert.is(response.status, 200, `${search} ${String(body)} ${await response.text()}`)
    }
  }))

for (const [description, body] of [
  ['a parameter twice', '{"grant_type":"password","grant_type":"password"}'],
  ['a parameter twice, once escaped', '{"scope":"user","sc\\u006fpe":"user"}'],
  ['a parameter twice, once as an object', '{"scope":{"scope":1},"scope":"user"}'],
  ['a number', '{"grant_type":"password","username":7}'],
  ['a list', '{"grant_type":["password"]}'],
  ['an array instead of an object', '[]'],
  ['a string instead of an object', '"grant_type=password"'],
  ['half an object', '{"grant_type":'],
  ['invalid UTF-8', Buffer.from('{"grant_type":"password\xff"}', 'latin1')],
] as const) {
  test(`rejects JSON with ${description} as in RFC 6749, 5.2`, () =>
    withTokenServer(async ({ address, client }) => {
      const search = new URLSearchParams({ ...passwordGrant, client_id: client.client, client_secret: client.secret })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${address}/api/oauth/v2/token?${search}`, { method: 'POST', body, headers })
      const json = (await response.json()) as { error: string }
      assert.equal([response.status, json.error], [400, 'invalid_request'])
      assert.is(response.headers.get('cache-control'), 'no-store')
    }))
}

test('does not mistake a string followed by a colon for a repeated name', () =>
  withTokenServer(async ({ address }) => {
    const body = '{"grant_type": "password", "username": "\\"scope\\":", "password": "a:\\"b\\" :"}'
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body, headers })
    assert.is(((await response.json()) as { error: string }).error, 'invalid_client')
  }))

test('answers 400 to a repeated parameter, another media type and a body that is too large', () =>
  withTokenServer(async ({ address }) => {
    const send = async (body: string, type = 'application/x-www-form-urlencoded') => {
      const headers = { 'content-type': type }
      const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body, headers })
      const { error }: { error?: unknown } = Object(await response.json())
      return [response.status, error]
    }
    assert.equal(await send('grant_type=password&grant_type=password'), [400, 'invalid_request'])
    assert.equal(await send('<grant_type>password</grant_type>', 'application/xml'), [400, 'invalid_request'])
    assert.equal(await send('{"grant_type":"password"}', 'application/json; charset=latin1'), [400, 'invalid_request'])
    assert.equal(await send(`grant_type=${'x'.repeat(70_000)}`), [400, 'invalid_request'])
  }))

test('ignores unknown parameters with any name (RFC 6749, 3.2)', () =>
  withTokenServer(async ({ address }) => {
    const body = 'grant_type=password&x=1&y[z]=1&list[]=1&__proto__=1&[a]=1'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(`${address}/api/oauth/v2/token?q[r]=1`, { method: 'POST', body, headers })
    assert.is(((await response.json()) as { error: string }).error, 'invalid_client')
  }))

test('accepts only POST', () =>
  withTokenServer(async ({ get }) => {
    const { status, headers, body } = await get('/api/oauth/v2/token?grant_type=password')
    assert.is(status, 405)
    assert.is(headers.get('allow'), 'POST, OPTIONS')
    assert.is(body['error'], 'invalid_request')
  }))

test('answers 429 after five failed log-ins of a known or unknown account, also to the correct password', () =>
  withTokenServer(async ({ post, time }) => {
    for (const username of [passwordGrant.username, 'nobody@example.com']) {
      for (let count = 1; count <= 5; count++) {
        assert.is((await post('token', { ...passwordGrant, username, password: 'wrong' })).status, 400)
      }
      const sixth = await post('token', { ...passwordGrant, username })
      assert.is(sixth.status, 429)
      assert.is(sixth.headers.get('retry-after'), '600')
    }
    time.now += 600_000
    assert.is((await post('token', passwordGrant)).status, 200)
  }))

test('does not count rejected refresh tokens as failed log-ins', () =>
  withTokenServer(async ({ post }) => {
    for (let count = 1; count <= 60; count++) {
      assert.is((await post('token', { grant_type: 'refresh_token', refresh_token: 'x' })).status, 400)
    }
  }))

test.run()
