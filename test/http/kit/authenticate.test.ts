import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { randomBytes } from 'node:crypto'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { openMasterKeys } from '../../../src/credentials/master-keys.ts'
import { bearer, passwordGrant, withTokenServer, type TokenServerResponse } from '../oauth/token-server.ts'

const test = suite('a bearer token')

/** RFC 6750, section 3. */
function assertRejected(response: TokenServerResponse, text: string): void {
  assert.is(response.status, 401)
  assert.equal(response.body['error'], [text])
  assert.is(
    response.headers.get('www-authenticate'),
    `Bearer realm="adamant", error="invalid_token", error_description="${text}"`,
  )
}
const INVALID = 'The access token provided is invalid.'

test('that is missing gets a challenge without an error code', () =>
  withTokenServer(async ({ get }) => {
    for (const headers of [{}, { authorization: 'Basic Og==' }]) {
      const response = await get('/v4/whoami', headers)
      assert.is(response.status, 401)
      assert.equal(response.body['error'], ['OAuth2 authentication required'])
      assert.is(response.headers.get('www-authenticate'), 'Bearer realm="adamant"')
    }
  }))

test('is accepted with its scheme in any letter case', () =>
  withTokenServer(async ({ get, post }) => {
    const { body } = await post('token', passwordGrant)
    const response = await get('/v4/whoami', { authorization: `bearer  ${String(body['access_token'])}` })
    assert.equal([response.status, response.body], [200, { account: 1 }])
  }))

test('that has expired is rejected as expired', () =>
  withTokenServer(async ({ get, post, time }) => {
    const { body } = await post('token', passwordGrant)
    time.now += 604_800_000
    assertRejected(await get('/v4/whoami', bearer(body['access_token'])), 'The access token provided has expired.')
  }))

test('that is forged, truncated, malformed or signed with another key is rejected', () =>
  withTokenServer(async ({ get, post, process }) => {
    const token = String((await post('token', passwordGrant)).body['access_token'])
    const [version = '', key = '', claims = '', signature = ''] = token.split('.')
    const read: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString())
    assert.ok(Array.isArray(read))
    const others = Buffer.from(JSON.stringify([2, ...read.slice(1)])).toString('base64url')
    const masterKey = randomBytes(32).toString('base64')
    const keys = openMasterKeys({ dataDir: '', masterKey, masterKeyOld: undefined })
    const foreign = new AccessTokens({ keys, ttl: 1000, clock: process.clock })
    const grant = { account: 1, accountEpoch: 0, client: '1_x', clientEpoch: 0 }
    const forged = foreign.issue(grant, 's', 0)
    const bad = [
      [version, key, others, signature].join('.'),
      [version, key, claims, signature.slice(0, -1)].join('.'),
      [version, key, claims, ''].join('.'),
      [version, key, claims].join('.'),
      [version, 'ffffffffffffffff', claims, signature].join('.'),
      ['v2', key, claims, signature].join('.'),
      `${token}.x`,
      `${token}=`,
      forged,
      forged.replace(/^v1\.\w+/, `v1.${key}`),
      'x',
      'a b',
      '',
    ]
    for (const one of bad) assertRejected(await get('/v4/whoami', bearer(one)), INVALID)
  }))

test('signed with the old key stays valid after a rotation, and new tokens use the new key', () => {
  const [one, two] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const open = (masterKey: string, masterKeyOld?: string) =>
    new AccessTokens({ keys: openMasterKeys({ dataDir: '', masterKey, masterKeyOld }), ttl: 10, clock: () => 0 })
  const grant = { account: 1, accountEpoch: 0, client: '1_x', clientEpoch: 0 }
  const old = open(one).issue(grant, 's', 0)
  const rotated = open(two, one)
  assert.ok(typeof rotated.verify(old) === 'object')
  assert.ok(typeof open(two).verify(rotated.issue(grant, 's', 0)) === 'object')
  assert.is(open(two).verify(old), 'invalid')
})

test('expires earlier if the configured lifetime is shortened', () => {
  const keys = openMasterKeys({ dataDir: '', masterKey: randomBytes(32).toString('base64'), masterKeyOld: undefined })
  const grant = { account: 1, accountEpoch: 0, client: '1_x', clientEpoch: 0 }
  const long = new AccessTokens({ keys, ttl: 100, clock: () => 0 }).issue(grant, 's', 0)
  assert.is(new AccessTokens({ keys, ttl: 50, clock: () => 50_000 }).verify(long), 'expired')
})

test('stays valid when more tokens are in use than the cache holds', () => {
  const keys = openMasterKeys({ dataDir: '', masterKey: randomBytes(32).toString('base64'), masterKeyOld: undefined })
  const tokens = new AccessTokens({ keys, ttl: 100, clock: () => 0, cacheSize: 3 })
  const grant = { account: 1, accountEpoch: 0, client: '1_x', clientEpoch: 0 }
  const issued = Array.from({ length: 20 }, (_, number) => tokens.issue(grant, 's', number))
  for (const token of [...issued, ...issued.toReversed()]) {
    const claims = tokens.verify(token)
    assert.is(typeof claims === 'object' && claims.number, issued.indexOf(token))
  }
})

test.run()
