import { createServer } from 'node:http'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { registerClient, type ClientCredentials } from '../../../src/commands/clients/clients.ts'
import { ok } from '../../../src/http/kit/response.ts'
import { bearer as bearerToken } from '../../../src/http/kit/authenticate.ts'
import { endpoint } from '../../../src/http/kit/endpoint.ts'
import { platformGroup } from '../../../src/http/kit/errors.ts'
import { createApp } from '../../../src/http/app.ts'
import { describeAuthorizationServer } from '../../../src/http/front/well-known.ts'
import { introspectToken, revokeToken } from '../../../src/http/oauth/revocation-introspection.ts'
import { issueToken } from '../../../src/http/oauth/token.ts'
import { expectDeclaredResponse } from '../../api/harness/declared-responses.ts'
import { ann, cli, openProcess, withLogFile, type Clock, type Process } from '../../commands/accounts-on-disk.ts'

export type Parameters = Readonly<Record<string, string>>

export type TokenServer = {
  readonly process: Process
  readonly time: Clock
  readonly client: ClientCredentials
  readonly address: string
  readonly file: string
  /** Posts a form to /api/oauth/v2/{name}, with the client's credentials unless `headers` has others. */
  post(name: string, form: Parameters, headers?: Parameters): Promise<TokenServerResponse>
  get(path: string, headers?: Parameters): Promise<TokenServerResponse>
}

export type TokenServerResponse = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Differences from a token server in production. */
export type TokenServerOptions = {
  /** X-Forwarded-For sets a request's client address. */
  readonly proxied?: true
  /** Compares passwords without hashing, for tests with many log-ins. */
  readonly cheap?: true
}

/** Only Ann's password is correct. */
const cheapPasswords = {
  matches: async (password: string, hash: string | undefined) => hash !== undefined && password === ann.password,
}

/** Runs with a token server on a new log, Ann's account and a client; `/v4/whoami` is behind bearer authentication. */
export const withTokenServer = (
  run: (server: TokenServer) => Promise<void>,
  { proxied, cheap }: TokenServerOptions = {},
): Promise<void> =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const process = await openProcess(file, time)
    await registerAccount(process, ann, cli)
    const client = await registerClient(process, 'shop', cli)
    const services = {
      sessions: cheap === true ? { ...process, passwords: cheapPasswords } : process,
      urls: {
        base: 'https://api.example.com',
        auth: 'https://auth.example.com',
        secrets: 'https://secrets.example.com',
      },
      bearer: process,
    }
    const endpoints = [issueToken, revokeToken, introspectToken, describeAuthorizationServer, whoAmI]
    const app = createApp(endpoints, services, { log: () => undefined, trustProxy: proxied === true ? 1 : 0 })
    const server = createServer(app.callback())
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const bound = server.address()
    const address = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`
    const credentials = { client_id: client.client, client_secret: client.secret }
    try {
      await run({
        process,
        time,
        client,
        address,
        file,
        get: (path, headers = {}) => send(`${address}${path}`, { headers }),
        post: (name, form, headers = {}) =>
          send(`${address}/api/oauth/v2/${name}`, {
            method: 'POST',
            body: new URLSearchParams(headers['authorization'] === undefined ? { ...credentials, ...form } : form),
            headers,
          }),
      })
    } finally {
      server.closeAllConnections()
      server.close()
      await process.close()
    }
  })

async function send(address: string, request: RequestInit): Promise<TokenServerResponse> {
  // A new connection: a kept-alive one may be closed at the moment it is reused.
  const response = await fetch(address, { ...request, headers: { ...request.headers, connection: 'close' } })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  expectDeclaredResponse(request.method ?? 'GET', new URL(address).pathname, {
    status: response.status,
    text,
    headers: Object.fromEntries(response.headers),
  })
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}

const whoAmI = endpoint({
  operationId: 'whoAmI',
  method: 'GET',
  path: '/v4/whoami',
  summary: 'The account of the access token.',
  auth: bearerToken,
  group: platformGroup,
  responses: { 200: 'The account' },
  handler: ({ state }) => ok({ account: state.principal.account }),
})

export const passwordGrant = { grant_type: 'password', username: ann.email, password: ann.password }
export const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` })
