import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { registerClient } from '../../../src/commands/clients/clients.ts'
import { describeAuthorizationServer } from '../../../src/http/front/well-known.ts'
import { introspectToken, revokeToken } from '../../../src/http/oauth/revocation-introspection.ts'
import { issueToken } from '../../../src/http/oauth/token.ts'
import { expectDeclaredBody } from '../../api/harness/declared-responses.ts'
import { ann, cli } from '../../commands/accounts-on-disk.ts'
import { bearer, passwordGrant, withTokenServer } from './token-server.ts'

const test = suite('the token server')

test('revokes a refresh token and its token family immediately (RFC 7009, 2.1)', () =>
  withTokenServer(async ({ post, get }) => {
    const { body } = await post('token', passwordGrant)
    const revoked = await post('revoke', { token: String(body['refresh_token']), token_type_hint: 'access_token' })
    assert.equal([revoked.status, revoked.text], [200, '{}'])
    assert.is(revoked.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.is((await get('/v4/whoami', bearer(body['access_token']))).status, 401)
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) }
    assert.equal((await post('token', refresh)).body['error'], 'invalid_grant')
  }))

test('revokes a single access token', () =>
  withTokenServer(async ({ post, get }) => {
    const first = await post('token', passwordGrant)
    const refresh = { grant_type: 'refresh_token', refresh_token: String(first.body['refresh_token']) }
    const second = await post('token', refresh)
    assert.is((await post('revoke', { token: String(first.body['access_token']) })).status, 200)
    assert.is((await get('/v4/whoami', bearer(first.body['access_token']))).status, 401)
    assert.is((await get('/v4/whoami', bearer(second.body['access_token']))).status, 200)
  }))

test('stores the trace context of a log-in and of a revocation', () =>
  withTokenServer(async ({ post, process }) => {
    const traced = (digit: string) => ({ traceparent: `00-${digit.repeat(32)}-00f067aa0ba902b7-01` })
    const { body } = await post('token', passwordGrant, traced('a'))
    await post('revoke', { token: String(body['refresh_token']) }, traced('b'))
    const kept: [type: string, trace: string | undefined][] = []
    for await (const { type, metadata } of process.store.readAll('start', { prefixes: ['session-'] })) {
      kept.push([type, metadata['traceparent']])
    }
    assert.equal(kept, [
      ['SessionOpened', traced('a').traceparent],
      ['SessionRevoked', traced('b').traceparent],
    ])
  }))

test('answers a revocation with 200 for an unknown token, 400 without one, 401 for a wrong client (RFC 7009, 2.2)', () =>
  withTokenServer(async ({ post }) => {
    const unknown = await post('revoke', { token: 'x' })
    assert.equal([unknown.status, unknown.text], [200, '{}'])
    const without = await post('revoke', {})
    assert.equal([without.status, without.body['error']], [400, 'invalid_request'])
    const wrong = await post('revoke', { token: 'x', client_secret: 'wrong' })
    assert.equal([wrong.status, wrong.body['error']], [401, 'invalid_client'])
  }))

test("neither revokes nor introspects another client's tokens", () =>
  withTokenServer(async ({ post, get, process }) => {
    const { body } = await post('token', passwordGrant)
    const { client, secret } = await registerClient(process, 'other', cli)
    for (const token of [String(body['access_token']), String(body['refresh_token'])]) {
      const form = { token, client_id: client, client_secret: secret }
      const refused = await post('revoke', form)
      assert.equal([refused.status, refused.body['error']], [400, 'invalid_grant'])
      assert.equal((await post('introspect', form)).body, { active: false })
    }
    assert.is((await get('/v4/whoami', bearer(body['access_token']))).status, 200)
  }))

test('introspects a valid token, and only reports others as inactive (RFC 7662, 2.2)', () =>
  withTokenServer(async ({ post, client, time }) => {
    const { body } = await post('token', passwordGrant)
    const iat = time.now / 1000
    const shown = { active: true, scope: 'user', client_id: client.client, username: ann.email }
    const access = await post('introspect', { token: String(body['access_token']) })
    assert.equal(access.body, { ...shown, token_type: 'bearer', exp: iat + 604_800, iat, sub: '1' })
    const refresh = await post('introspect', { token: String(body['refresh_token']) })
    assert.equal(refresh.body, { ...shown, exp: iat + 1_209_600, iat, sub: '1' })
    await post('revoke', { token: String(body['refresh_token']) })
    for (const token of [body['access_token'], body['refresh_token'], 'x']) {
      assert.equal((await post('introspect', { token: String(token) })).body, { active: false })
    }
    const wrong = await post('introspect', { token: 'x', client_secret: 'wrong' })
    assert.is(wrong.status, 401)
  }))

test('publishes its metadata as in RFC 8414, without empty arrays (3.2)', () =>
  withTokenServer(async ({ get }) => {
    const { status, body, headers } = await get('/.well-known/oauth-authorization-server')
    assert.is(status, 200)
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
    const authentication = ['client_secret_basic', 'client_secret_post']
    assert.equal(body, {
      issuer: 'https://auth.example.com',
      token_endpoint: 'https://auth.example.com/api/oauth/v2/token',
      token_endpoint_auth_methods_supported: authentication,
      grant_types_supported: ['password', 'refresh_token'],
      scopes_supported: ['user'],
      revocation_endpoint: 'https://auth.example.com/api/oauth/v2/revoke',
      revocation_endpoint_auth_methods_supported: authentication,
      introspection_endpoint: 'https://auth.example.com/api/oauth/v2/introspect',
      introspection_endpoint_auth_methods_supported: authentication,
    })
  }))

test('sends the declared responses', () =>
  withTokenServer(async ({ post, get }) => {
    const issued = await post('token', passwordGrant)
    expectDeclaredBody(issueToken, 200, issued.body)
    for (const name of ['access_token', 'refresh_token']) {
      expectDeclaredBody(introspectToken, 200, (await post('introspect', { token: String(issued.body[name]) })).body)
    }
    expectDeclaredBody(introspectToken, 200, (await post('introspect', { token: 'x' })).body)
    expectDeclaredBody(revokeToken, 200, (await post('revoke', { token: 'x' })).body)
    expectDeclaredBody(describeAuthorizationServer, 200, (await get('/.well-known/oauth-authorization-server')).body)
  }))

test('stores no usable credentials on the disk', () =>
  withTokenServer(async ({ post, client, file }) => {
    const { body } = await post('token', passwordGrant)
    const next = await post('token', { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) })
    const tokens = [body, next.body].flatMap((one) => [String(one['access_token']), String(one['refresh_token'])])
    const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)))
    assert.ok(bytes.includes('ClientRegistered') && bytes.includes('"shop"'), 'the search finds nothing')
    for (const secret of [
      ann.email,
      ...tokens,
      ...tokens.map((token) => token.split('.').at(-1) ?? ''),
      client.secret,
      ann.password,
    ]) {
      assert.is(bytes.includes(secret), false)
    }
  }))

test.run()
