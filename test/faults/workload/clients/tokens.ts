import { vendor } from '../../../api/harness/account.ts'
import { form } from '../../../api/harness/secrets.ts'
import { request } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { Reply } from '../record.ts'
import { RETRY_DELAY_MS, anyUrl, type Client } from './client.ts'

/** An access token and the refresh token that was issued with it. */
type Tokens = { readonly access: string; readonly refresh: string }

/** Statuses of a request with an invalid access token. */
const INVALID_TOKEN = [401]
/** Statuses of a request with an invalid refresh token. */
const INVALID_GRANT = [400]
/** Requests with a token before it is refreshed or revoked. */
const USES = 3
/** Milliseconds between two sessions: checking a password takes a core about 70 ms. */
const SESSION_INTERVAL_MS = 300

/** A client that logs in, uses its tokens at any process, refreshes and revokes them, and tries revoked ones. */
export async function useTokens(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    await useSession(client)
    await pace(SESSION_INTERVAL_MS)
  }
}

async function useSession(client: Client): Promise<void> {
  const { person } = client.world
  const first = await grant(client, { grant_type: 'password', username: person.email, password: person.password })
  if (first.tokens === undefined) return pace(RETRY_DELAY_MS)
  await use(client, first.tokens)
  const second = await refresh(client, first.tokens)
  if (second === undefined) return
  await use(client, second)
  const isRevokedAlone = client.random.next() < 0.5
  const ended = isRevokedAlone ? [first.tokens.access] : [first.tokens.access, second.access, second.refresh]
  const { outcome } = await end(client, isRevokedAlone ? first.tokens.access : second.refresh, ended)
  await Promise.all([use(client, first.tokens), use(client, second)])
  if (!isRevokedAlone && outcome === 'done') await refresh(client, second)
}

async function grant(client: Client, parameters: Readonly<Record<string, string>>) {
  const reply = await postForm(client, 'token', parameters)
  if (reply.response?.status !== 200) return { reply, tokens: undefined }
  const { access_token: access, refresh_token: refresh } = reply.response.json() as Record<string, string>
  return { reply, tokens: { access: String(access), refresh: String(refresh) } }
}

async function refresh(client: Client, { refresh: token }: Tokens): Promise<Tokens | undefined> {
  const { reply, tokens } = await grant(client, { grant_type: 'refresh_token', refresh_token: token })
  const { response: _, ...result } = reply
  client.world.record.add({ ...result, kind: 'refresh', token: nameOf(token) })
  return tokens
}

async function end(client: Client, token: string, ended: readonly string[]): Promise<Reply> {
  const { response: _, ...result } = await postForm(client, 'revoke', { token })
  client.world.record.add({ ...result, kind: 'end', tokens: ended.map(nameOf) })
  return result
}

async function use(client: Client, { access }: Tokens): Promise<void> {
  const { world, number } = client
  for (let used = 0; used < USES; used++) {
    const send = () => vendor(anyUrl(client), 0, access).get('/v4/diamond?limit=1')
    const { response: _, ...result } = await world.record.send(number, send, INVALID_TOKEN)
    world.record.add({ ...result, kind: 'use', token: nameOf(access) })
  }
}

function postForm(
  client: Client,
  name: 'token' | 'revoke',
  parameters: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { world, number } = client
  const { client: client_id, clientSecret: client_secret } = world.person
  const body = new URLSearchParams({ ...parameters, client_id, client_secret }).toString()
  return world.record.send(number, () => request(anyUrl(client), form(`/api/oauth/v2/${name}`, body)), INVALID_GRANT)
}

/** A name that identifies a token in a history without containing it. */
const nameOf = (token: string): string => `the token ...${token.slice(-8)}`
