import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'

export type Client = { readonly id: string; readonly secret: string }

/** A token server with a user and clients. */
export type TokenServer = {
  /** Where it listens, without a slash at its end. */
  readonly address: string
  /** What it calls itself. */
  readonly issuer: string
  readonly user: { readonly username: string; readonly password: string }
  /** It authenticates by HTTP Basic. */
  readonly client: Client
  /** It authenticates by parameters. */
  readonly posting: Client
  /** Another one, by HTTP Basic. */
  readonly other: Client
  /** Sets its clock to when a used refresh token can be no client's that was in a race with itself. */
  later(): void
}

type Answer = {
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
 * What the RFCs say that a token server MUST do, for ours and for one that others wrote: a rule that the other breaks is one that
 * we have misread.
 * @param name as people call the server
 * @param withServer runs with one that nobody has asked for anything yet
 */
export function tokenServerContract(
  name: string,
  withServer: (run: (server: TokenServer) => Promise<void>) => Promise<void>,
): void {
  const rules = suite(`a token server: ${name}`)
  const test = (rule: string, hold: (given: { server: TokenServer; asked: Asked }) => Promise<void>) =>
    rules(rule, () => withServer(async (server) => hold({ server, asked: await askedOf(server) })))

  test('says what it is and where its endpoints are (RFC 8414, 2 and 3.3)', async ({ server, asked }) => {
    const { metadata } = asked
    assert.is(metadata.issuer, server.issuer)
    for (const type of ['password', 'refresh_token']) assert.ok(metadata.grant_types_supported.includes(type), type)
    assert.ok(metadata.token_endpoint_auth_methods_supported.includes('client_secret_basic'))
    for (const claim of Object.values(metadata)) assert.not.equal(claim, [], 'a claim without elements')
  })

  test('gives tokens that no cache keeps (RFC 6749, 4.3.3 and 5.1)', async ({ asked }) => {
    const { status, headers, body } = await asked.logIn()
    assert.is(status, 200)
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/)
    assert.match(headers.get('cache-control') ?? '', /\bno-store\b/)
    assert.type(body['access_token'], 'string')
    assert.type(body['refresh_token'], 'string')
    assert.match(String(body['token_type']), /^bearer$/i)
    assert.type(body['expires_in'], 'number')
  })

  test('is asked by POST (RFC 6749, 3.2)', async ({ server, asked }) => {
    const search = new URLSearchParams({ grant_type: 'password', ...server.user })
    const headers = { authorization: basicOf(server.client) }
    const answer = await fetch(`${asked.at('token_endpoint')}?${search}`, { headers })
    assert.ok(answer.status === 404 || answer.status === 405, String(answer.status))
  })

  test('ignores parameters that it does not know (RFC 6749, 3.2)', async ({ asked }) => {
    assert.is((await asked.logIn({ unknown: '1', 'x[y]': '2' })).status, 200)
  })

  test('takes a parameter without a value for one that is left out (RFC 6749, 3.2)', async ({ asked }) => {
    assert.is((await asked.logIn({ scope: '' })).status, 200)
  })

  test('refuses a parameter that stands twice (RFC 6749, 3.2)', async ({ server, asked }) => {
    const form = new URLSearchParams({ grant_type: 'password', ...server.user })
    form.append('username', server.user.username)
    refuses(await asked.token(form), 400, 'invalid_request')
  })

  test('refuses a request without a grant type, and one with another (RFC 6749, 5.2)', async ({ asked }) => {
    refuses(await asked.token({}), 400, 'invalid_request')
    refuses(await asked.token({ grant_type: 'magic' }), 400, 'unsupported_grant_type')
  })

  test('refuses a log-in without a password (RFC 6749, 4.3.2 and 5.2)', async ({ server, asked }) => {
    const { username } = server.user
    refuses(await asked.token({ grant_type: 'password', username }), 400, 'invalid_request')
  })

  test('refuses a wrong password (RFC 6749, 5.2)', async ({ asked }) => {
    refuses(await asked.logIn({ password: 'wrong' }), 400, 'invalid_grant')
  })

  test('challenges a client whose Basic credentials are wrong (RFC 6749, 5.2)', async ({ server, asked }) => {
    const refused = await asked.logIn({}, { ...server.client, secret: 'wrong' })
    refuses(refused, 401, 'invalid_client')
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic\b/i)
  })

  test('takes a client by parameters, and refuses it without its secret (RFC 6749, 2.3.1)', async ({
    server,
    asked,
  }) => {
    const { id: client_id, secret: client_secret } = server.posting
    const form = { grant_type: 'password', ...server.user, client_id }
    assert.is((await asked.post('token_endpoint', { ...form, client_secret })).status, 200)
    refuses(await asked.post('token_endpoint', { ...form, client_secret: 'wrong' }), 401, 'invalid_client')
  })

  test('refuses a client that authenticates in two ways (RFC 6749, 2.3)', async ({ server, asked }) => {
    const { secret: client_secret } = server.client
    refuses(await asked.logIn({ client_secret }), 400, 'invalid_request')
  })

  test('refreshes with a token that is good once (RFC 6749, 6; RFC 9700, 4.14.2)', async ({ server, asked }) => {
    const first = await asked.logIn()
    const second = await asked.refresh(first)
    assert.is(second.status, 200)
    assert.match(second.headers.get('cache-control') ?? '', /\bno-store\b/)
    assert.is.not(second.body['access_token'], first.body['access_token'])
    assert.is.not(second.body['refresh_token'], first.body['refresh_token'])
    assert.equal(second.body['scope'], first.body['scope'])
    refuses(await asked.refresh(first), 400, 'invalid_grant')
    server.later()
    refuses(await asked.refresh(first), 400, 'invalid_grant')
    // One of the two who had the token has stolen it: neither goes on.
    refuses(await asked.refresh(second), 400, 'invalid_grant')
    assert.equal((await asked.introspect(second.body['access_token'])).body, { active: false })
  })

  test('refreshes for the client to which the token was given, alone (RFC 6749, 6)', async ({ server, asked }) => {
    const tokens = await asked.logIn()
    refuses(await asked.refresh(tokens, server.other), 400, 'invalid_grant')
    refuses(await asked.token({ grant_type: 'refresh_token', refresh_token: 'x' }), 400, 'invalid_grant')
    refuses(await asked.token({ grant_type: 'refresh_token' }), 400, 'invalid_request')
    assert.is((await asked.refresh(tokens)).status, 200)
  })

  test('describes an error by the characters that a client may expect (RFC 6749, 5.2)', async ({ asked }) => {
    const refused = await asked.token({ grant_type: 'm"ä\\gic' })
    assert.match(String(refused.body['error_description'] ?? ''), /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/)
  })

  test('revokes a refresh token with its access tokens (RFC 7009, 2 and 2.1)', async ({ asked }) => {
    const tokens = await asked.logIn()
    assert.is((await asked.revoke(tokens.body['refresh_token'])).status, 200)
    refuses(await asked.refresh(tokens), 400, 'invalid_grant')
    assert.equal((await asked.introspect(tokens.body['access_token'])).body, { active: false })
  })

  test('revokes an access token, whatever it is said to be (RFC 7009, 2.1)', async ({ asked }) => {
    const { body } = await asked.logIn()
    assert.is((await asked.revoke(body['access_token'], { token_type_hint: 'refresh_token' })).status, 200)
    assert.equal((await asked.introspect(body['access_token'])).body, { active: false })
  })

  test('answers 200 to the revocation of a token that is none (RFC 7009, 2.2)', async ({ server, asked }) => {
    assert.is((await asked.revoke('x')).status, 200)
    refuses(await asked.post('revocation_endpoint', {}, server.client), 400, 'invalid_request')
    refuses(await asked.revoke('x', {}, { ...server.client, secret: 'wrong' }), 401, 'invalid_client')
  })

  test("does not revoke another client's token (RFC 7009, 2.1)", async ({ server, asked }) => {
    const { body } = await asked.logIn()
    for (const token of [body['access_token'], body['refresh_token']]) {
      await asked.revoke(token, {}, server.other)
      assert.is((await asked.introspect(token)).body['active'], true)
    }
  })

  test('shows a client what its token is (RFC 7662, 2.2)', async ({ server, asked }) => {
    const { body } = await asked.logIn()
    const { status, headers, body: shown } = await asked.introspect(body['access_token'])
    assert.is(status, 200)
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/)
    assert.equal([shown['active'], shown['client_id']], [true, server.client.id])
    assert.type(shown['exp'], 'number')
  })

  test('shows nothing of a token that is none (RFC 7662, 2.2)', async ({ asked }) => {
    assert.equal((await asked.introspect('x')).body, { active: false })
  })

  test('shows tokens to clients that authenticate (RFC 7662, 2.1)', async ({ server, asked }) => {
    const { body } = await asked.logIn()
    const token = String(body['access_token'])
    refuses(await asked.introspect(token, { ...server.client, secret: 'wrong' }), 401, 'invalid_client')
  })

  rules.run()
}

type Asked = Awaited<ReturnType<typeof askedOf>>

/** Asks a server at the addresses that its metadata has. */
async function askedOf({ address, user, client }: TokenServer) {
  const described = await fetch(`${address}/.well-known/oauth-authorization-server`)
  const metadata = METADATA.parse(await described.json())
  const at = (endpoint: 'token_endpoint' | 'revocation_endpoint' | 'introspection_endpoint') =>
    `${address}${new URL(metadata[endpoint]).pathname}`

  async function post(endpoint: Parameters<typeof at>[0], form: Form | URLSearchParams, by?: Client): Promise<Answer> {
    const headers = { connection: 'close', ...(by && { authorization: basicOf(by) }) }
    const answer = await fetch(at(endpoint), { method: 'POST', headers, body: new URLSearchParams(form) })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) }
  }
  const token = (form: Form | URLSearchParams, by = client) => post('token_endpoint', form, by)
  return {
    metadata,
    at,
    post,
    token,
    logIn: (more: Form = {}, by = client) => token({ grant_type: 'password', ...user, ...more }, by),
    refresh: ({ body }: Answer, by = client) =>
      token({ grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) }, by),
    revoke: (what: unknown, more: Form = {}, by = client) =>
      post('revocation_endpoint', { token: String(what), ...more }, by),
    introspect: (what: unknown, by = client) => post('introspection_endpoint', { token: String(what) }, by),
  }
}

function refuses({ status, body }: Answer, expected: number, error: string): void {
  assert.equal([status, body['error']], [expected, error])
}

/** RFC 6749, section 2.3.1: both halves are form-encoded first. */
function basicOf({ id, secret }: Client): string {
  const encoded = [id, secret].map((half) => new URLSearchParams({ half }).toString().slice('half='.length))
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`
}
