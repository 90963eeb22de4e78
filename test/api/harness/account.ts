import { readEpoch } from '../../../src/events/lineage.ts'
import { randomUUID } from 'node:crypto'
import { openSession, type LogInContext } from '../../../src/commands/sessions/sessions.ts'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { registerClient, verifyClient, type VerifiedClient } from '../../../src/commands/clients/clients.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { FailedAttemptLimiter } from '../../../src/credentials/failed-attempt-limiter.ts'
import { FamiliarAddresses } from '../../../src/credentials/familiar-addresses.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { request, type ApiResponse, type Request } from './request.ts'

/** A client of the service with an account and an access token. */
export type Vendor = {
  readonly account: number
  readonly token: string
  send(request: Request): Promise<ApiResponse>
  get(path: string, headers?: Request['headers']): Promise<ApiResponse>
  post(path: string, json: unknown, headers?: Request['headers']): Promise<ApiResponse>
  patch(path: string, json: unknown, headers?: Request['headers']): Promise<ApiResponse>
  put(path: string, json: unknown, headers?: Request['headers']): Promise<ApiResponse>
  remove(path: string, json?: unknown, headers?: Request['headers']): Promise<ApiResponse>
}

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

/** Skips password hashing; the tests of the token server cover it. */
const passwords = { hash: async () => 'not a hash', matches: async () => true }

/** Registers accounts and opens sessions by the real commands, without the half second of a password hash. */
export class Vendors {
  readonly #sessions: LogInContext
  readonly #client: Promise<VerifiedClient>
  #logEpoch = 0

  constructor({ context, keys, settings }: Installation) {
    const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
    const attemptLimiter = new FailedAttemptLimiter(context.clock)
    const familiarAddresses = new FamiliarAddresses(keys)
    const noLogging = { note: () => {}, security: () => {} }
    const shared = {
      tokens,
      passwords,
      attemptLimiter,
      familiarAddresses,
      refreshTtl: settings.REFRESH_TTL,
      logEpoch: () => this.#logEpoch,
    }
    this.#sessions = { ...context, ...noLogging, ...shared }
    this.#client = this.#register(new IdAllocator({ ...context, kind: 'client', size: 1, origin }))
  }

  async #register(clientIds: IdAllocator): Promise<VerifiedClient> {
    const { client, secret } = await registerClient({ ...this.#sessions, clientIds }, 'tests', origin)
    return verifyClient(this.#sessions, { client, secret, address: '192.0.2.1' })
  }

  /** Registers an account and opens a session for it. */
  async open(url: string): Promise<Vendor & { readonly refreshToken: string }> {
    this.#logEpoch = await readEpoch(this.#sessions.store)
    const accountIds = new IdAllocator({ ...this.#sessions, kind: 'account', size: 1, origin })
    const email = `${randomUUID()}@example.com`
    const registration = { email, password: 'unused', plan: 'basic' } as const
    const { account } = await registerAccount({ ...this.#sessions, passwords, accountIds }, registration, origin)
    const logIn = { username: email, password: 'unused', address: '192.0.2.1', client: await this.#client }
    const { accessToken, refreshToken } = await openSession(this.#sessions, logIn, origin)
    return { ...vendor(url, account, accessToken), refreshToken }
  }
}

/** A client with a given token, valid or not. */
export function vendor(url: string, account: number, token: string): Vendor {
  const send = (options: Request) =>
    request(url, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } })
  const writes =
    (method: string) =>
    (path: string, json: unknown, headers: Request['headers'] = {}) =>
      send({ method, path, json, headers })
  return {
    account,
    token,
    send,
    get: (path, headers = {}) => send({ path, headers }),
    post: writes('POST'),
    patch: writes('PATCH'),
    put: writes('PUT'),
    remove: writes('DELETE'),
  }
}
