import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'

export type Client = { readonly id: string; readonly secret: string }

/** A token server with a user and clients. */
export type TokenServer = {
  /** The base URL, without a trailing slash. */
  readonly address: string
  readonly issuer: string
  readonly user: { readonly username: string; readonly password: string }
  /** Authenticates with HTTP Basic. */
  readonly client: Client
  /** Authenticates with form parameters. */
  readonly formClient: Client
  /** Another client that authenticates with HTTP Basic. */
  readonly otherClient: Client
  /** Advances the server's clock past the grace period in which a client may repeat a refresh. */
  skipGracePeriod(): void
}

type TokenResponse = {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

type Form = Readonly<Record<string, string>>

const METADATA = z.looseObject({
  issuer: z.string(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  introspection_endpoint: z.url(),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
})

/**
 * Runs the requirements (MUST) of the OAuth RFCs on a token server. They also run on an independent implementation: if that one
 * fails a rule, the rule is probably a misreading of the RFC.
 * @param withServer runs a test with a new server
 */
export function tokenServerContract(
  name: string,
  withServer: (run: (server: TokenServer) => Promise<void>) => Promise<void>,
): void {
  const rules = suite(`a token server: ${name}`)
  const test = (rule: string, run: (given: { server: TokenServer; client: TokenClient }) => Promise<void>) =>
    rules(rule, () => withServer(async (server) => run({ server, client: await connectTo(server) })))

  test('publishes its issuer and endpoints as metadata (RFC 8414, 2 and 3.3)', async ({ server, client }) => {
    const { metadata } = client
    assert.is(metadata.issuer, server.issuer)
    for (const type of ['password', 'refresh_token']) assert.ok(metadata.grant_types_supported.includes(type), type)
    assert.ok(metadata.token_endpoint_auth_methods_supported.includes('client_secret_basic'))
    for (const claim of Object.values(metadata)) assert.not.equal(claim, [], 'a claim without elements')
  })

  test('issues tokens with Cache-Control: no-store (RFC 6749, 4.3.3 and 5.1)', async ({ client }) => {
    const { status, headers, body } = await client.logIn()
    assert.is(status, 200)
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/)
    assert.match(headers.get('cache-control') ?? '', /\bno-store\b/)
    assert.type(body['access_token'], 'string')
    assert.type(body['refresh_token'], 'string')
    assert.match(String(body['token_type']), /^bearer$/i)
    assert.type(body['expires_in'], 'number')
  })

  test('accepts only POST at the token endpoint (RFC 6749, 3.2)', async ({ server, client }) => {
    const search = new URLSearchParams({ grant_type: 'password', ...server.user })
    const headers = { authorization: basicOf(server.client) }
    const response = await fetch(`${client.at('token_endpoint')}?${search}`, { headers })
    assert.ok(response.status === 404 || response.status === 405, String(response.status))
  })

  test('ignores unknown parameters (RFC 6749, 3.2)', async ({ client }) => {
    assert.is((await client.logIn({ unknown: '1', 'x[y]': '2' })).status, 200)
  })

  test('treats a parameter without a value as omitted (RFC 6749, 3.2)', async ({ client }) => {
    assert.is((await client.logIn({ scope: '' })).status, 200)
  })

  test('rejects a repeated parameter (RFC 6749, 3.2)', async ({ server, client }) => {
    const form = new URLSearchParams({ grant_type: 'password', ...server.user })
    form.append('username', server.user.username)
    assertError(await client.token(form), 400, 'invalid_request')
  })

  test('rejects a request with a missing or unsupported grant type (RFC 6749, 5.2)', async ({ client }) => {
    assertError(await client.token({}), 400, 'invalid_request')
    assertError(await client.token({ grant_type: 'magic' }), 400, 'unsupported_grant_type')
  })

  test('rejects a password grant without a password (RFC 6749, 4.3.2 and 5.2)', async ({ server, client }) => {
    const { username } = server.user
    assertError(await client.token({ grant_type: 'password', username }), 400, 'invalid_request')
  })

  test('rejects a wrong password (RFC 6749, 5.2)', async ({ client }) => {
    assertError(await client.logIn({ password: 'wrong' }), 400, 'invalid_grant')
  })

  test('challenges a client with wrong Basic credentials (RFC 6749, 5.2)', async ({ server, client }) => {
    const refused = await client.logIn({}, { ...server.client, secret: 'wrong' })
    assertError(refused, 401, 'invalid_client')
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic\b/i)
  })

  test('authenticates a client by parameters and rejects a wrong secret (RFC 6749, 2.3.1)', async ({
    server,
    client,
  }) => {
    const { id: client_id, secret: client_secret } = server.formClient
    const form = { grant_type: 'password', ...server.user, client_id }
    assert.is((await client.post('token_endpoint', { ...form, client_secret })).status, 200)
    assertError(await client.post('token_endpoint', { ...form, client_secret: 'wrong' }), 401, 'invalid_client')
  })

  test('rejects a client that authenticates in two ways (RFC 6749, 2.3)', async ({ server, client }) => {
    const { secret: client_secret } = server.client
    assertError(await client.logIn({ client_secret }), 400, 'invalid_request')
  })

  test('rotates refresh tokens, which are valid once (RFC 6749, 6; RFC 9700, 4.14.2)', async ({ server, client }) => {
    const first = await client.logIn()
    const second = await client.refresh(first)
    assert.is(second.status, 200)
    assert.match(second.headers.get('cache-control') ?? '', /\bno-store\b/)
    assert.is.not(second.body['access_token'], first.body['access_token'])
    assert.is.not(second.body['refresh_token'], first.body['refresh_token'])
    assert.equal(second.body['scope'], first.body['scope'])
    assertError(await client.refresh(first), 400, 'invalid_grant')
    server.skipGracePeriod()
    assertError(await client.refresh(first), 400, 'invalid_grant')
    // A refresh token that is used twice may be stolen, so all tokens of its grant are revoked.
    assertError(await client.refresh(second), 400, 'invalid_grant')
    assert.equal((await client.introspect(second.body['access_token'])).body, { active: false })
  })

  test('accepts a refresh token only from the client it was issued to (RFC 6749, 6)', async ({ server, client }) => {
    const tokens = await client.logIn()
    assertError(await client.refresh(tokens, server.otherClient), 400, 'invalid_grant')
    assertError(await client.token({ grant_type: 'refresh_token', refresh_token: 'x' }), 400, 'invalid_grant')
    assertError(await client.token({ grant_type: 'refresh_token' }), 400, 'invalid_request')
    assert.is((await client.refresh(tokens)).status, 200)
  })

  test('describes errors with the allowed characters only (RFC 6749, 5.2)', async ({ client }) => {
    const refused = await client.token({ grant_type: 'm"ä\\gic' })
    assert.match(String(refused.body['error_description'] ?? ''), /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/)
  })

  test('revokes a refresh token together with its access tokens (RFC 7009, 2 and 2.1)', async ({ client }) => {
    const tokens = await client.logIn()
    assert.is((await client.revoke(tokens.body['refresh_token'])).status, 200)
    assertError(await client.refresh(tokens), 400, 'invalid_grant')
    assert.equal((await client.introspect(tokens.body['access_token'])).body, { active: false })
  })

  test('revokes an access token despite a wrong token_type_hint (RFC 7009, 2.1)', async ({ client }) => {
    const { body } = await client.logIn()
    assert.is((await client.revoke(body['access_token'], { token_type_hint: 'refresh_token' })).status, 200)
    assert.equal((await client.introspect(body['access_token'])).body, { active: false })
  })

  test('responds with 200 to the revocation of an invalid token (RFC 7009, 2.2)', async ({ server, client }) => {
    assert.is((await client.revoke('x')).status, 200)
    assertError(await client.post('revocation_endpoint', {}, server.client), 400, 'invalid_request')
    assertError(await client.revoke('x', {}, { ...server.client, secret: 'wrong' }), 401, 'invalid_client')
  })

  test("does not revoke another client's token (RFC 7009, 2.1)", async ({ server, client }) => {
    const { body } = await client.logIn()
    for (const token of [body['access_token'], body['refresh_token']]) {
      await client.revoke(token, {}, server.otherClient)
      assert.is((await client.introspect(token)).body['active'], true)
    }
  })

  test('introspects a valid token (RFC 7662, 2.2)', async ({ server, client }) => {
    const { body } = await client.logIn()
    const { status, headers, body: shown } = await client.introspect(body['access_token'])
    assert.is(status, 200)
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/)
    assert.equal([shown['active'], shown['client_id']], [true, server.client.id])
    assert.type(shown['exp'], 'number')
  })

  test('reports an invalid token as inactive without details (RFC 7662, 2.2)', async ({ client }) => {
    assert.equal((await client.introspect('x')).body, { active: false })
  })

  test('requires client authentication for introspection (RFC 7662, 2.1)', async ({ server, client }) => {
    const { body } = await client.logIn()
    const token = String(body['access_token'])
    assertError(await client.introspect(token, { ...server.client, secret: 'wrong' }), 401, 'invalid_client')
  })

  rules.run()
}

type TokenClient = Awaited<ReturnType<typeof connectTo>>

/** A client that finds the endpoints of a token server in its metadata. */
async function connectTo({ address, user, client }: TokenServer) {
  const discovery = await fetch(`${address}/.well-known/oauth-authorization-server`)
  const metadata = METADATA.parse(await discovery.json())
  const at = (endpoint: 'token_endpoint' | 'revocation_endpoint' | 'introspection_endpoint') =>
    `${address}${new URL(metadata[endpoint]).pathname}`

  async function post(
    endpoint: Parameters<typeof at>[0],
    form: Form | URLSearchParams,
    by?: Client,
  ): Promise<TokenResponse> {
    const headers = { connection: 'close', ...(by && { authorization: basicOf(by) }) }
    const response = await fetch(at(endpoint), { method: 'POST', headers, body: new URLSearchParams(form) })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }
  const token = (form: Form | URLSearchParams, by = client) => post('token_endpoint', form, by)
  return {
    metadata,
    at,
    post,
    token,
    logIn: (more: Form = {}, by = client) => token({ grant_type: 'password', ...user, ...more }, by),
    refresh: ({ body }: TokenResponse, by = client) =>
      token({ grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) }, by),
    revoke: (what: unknown, more: Form = {}, by = client) =>
      post('revocation_endpoint', { token: String(what), ...more }, by),
    introspect: (what: unknown, by = client) => post('introspection_endpoint', { token: String(what) }, by),
  }
}

function assertError({ status, body }: TokenResponse, expected: number, error: string): void {
  assert.equal([status, body['error']], [expected, error])
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded first. */
function basicOf({ id, secret }: Client): string {
  const encoded = [id, secret].map((half) => new URLSearchParams({ half }).toString().slice('half='.length))
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`
}
