import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { ApiTokenHolder } from '../../commands/accounts/api-tokens.ts'
import type { SecretCommandContext } from '../../commands/secrets/secrets.ts'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import type { MailRateLimiter } from '../../credentials/mail-rate-limiter.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { RecentSecrets } from '../../projections/secrets/secrets.ts'
import { createResponse, type ResponseHeaders } from '../kit/response.ts'
import { parseBasicCredentials, sameSite } from '../kit/authenticate.ts'
import { refuseCrossSite, type TrustedOrigins } from '../middleware/cors.ts'
import {
  publicAccess,
  type Authenticator,
  type EndpointContext,
  type EndpointGroup,
  type HttpErrorDetails,
} from '../kit/endpoint.ts'

const UNKNOWN = 'Unknown secret'

const CHALLENGE: ResponseHeaders = { 'WWW-Authenticate': 'Basic realm="adamant secrets", charset="UTF-8"' }
const NONE: ResponseHeaders = {}

const SecretsError = z
  .object({
    message: z.string(),
    secret_key: z.string().optional().describe('For an unknown secret: the key in the path.'),
  })
  .meta({ id: 'SecretsError' })

/** `{"message": "..."}` with the original's messages, which clients match on. */
export const secretsGroup: EndpointGroup = {
  tag: 'Secrets',
  pathPrefixes: ['/api/v1'],
  errorFormat: { mediaType: 'application/json', schema: SecretsError },
  errorResponse: (details, _error, { params }) =>
    createResponse(details.status, bodyOf(details, params['key']), details.status === 401 ? CHALLENGE : NONE),
}

function bodyOf({ status, faults }: HttpErrorDetails, key: string | undefined): object {
  if (status === 404) {
    return faults[0]?.message === UNKNOWN ? { secret_key: String(key), message: UNKNOWN } : { message: 'Not Found' }
  }
  if (status === 500) return { message: 'An unexpected error occurred :[' }
  return { message: faults.map(({ message }) => message).join('; ') }
}

/** Milliseconds. */
const WINDOW_MS = 600_000
/** Maximum number of accounts and addresses counted; the least recently used are evicted. */
const MAX_WINDOWS = 100_000

/** The original's message, which clients match on. */
const MESSAGE = 'Apologies dear citizen! You have been rate limited.'

type Window = { readonly endsAt: number; count: number }

/** Fixed-window rate limiter: counts requests per key in windows of 10 minutes, in this process only. */
export class RateLimiter {
  readonly #windows = new LRUCache<string, Window>({ max: MAX_WINDOWS })

  /**
   * @param limit requests per window; 0 for no limit
   * @param clock a monotonic clock in milliseconds, unaffected by changes of the system time
   */
  constructor(
    private readonly limit: number,
    private readonly clock: () => number,
  ) {}

  /** @throws RequestError too-many */
  count(key: string): void {
    if (this.limit === 0) return
    const now = this.clock()
    const window = this.#windowOf(key, now)
    if (++window.count <= this.limit) return
    throw new RequestError('too-many', MESSAGE, Math.max(1, Math.ceil((window.endsAt - now) / 1000)))
  }

  #windowOf(key: string, now: number): Window {
    const current = this.#windows.get(key)
    if (current !== undefined && now < current.endsAt) return current
    const window = { endsAt: now + WINDOW_MS, count: 0 }
    this.#windows.set(key, window)
    return window
  }
}

/** @throws RequestError too-many */
export const countAddress = (limiter: RateLimiter, address: string): void =>
  limiter.count(`address ${networkOf(address)}`)

/** Called in addition to `countAddress`. @throws RequestError too-many */
export const countAccount = (limiter: RateLimiter, account: number): void => limiter.count(`account ${account}`)

export type ApiTokens = {
  verify(credentials: { email: string; token: string; address: string }): Promise<ApiTokenHolder | undefined>
}

export type SecretServices = {
  readonly secrets: SecretCommandContext & {
    readonly recent: RecentSecrets
    readonly mailLimits: MailRateLimiter
    readonly apiTokens: ApiTokens
    readonly rateLimit: RateLimiter
    /** Origins whose pages may send POST requests. */
    readonly trustedOrigins: TrustedOrigins
    /** Whether share and generate are allowed without an account. */
    readonly allowsAnonymous: boolean
  }
}

/** An authenticated account. `token` is the API token itself: it decrypts the metadata keys of secrets shared with it. */
export type AuthenticatedSender = ApiTokenHolder & { readonly token: string }

const ERROR_STATUSES = [401, 403, 429] as const

/** For requests authorised by a secret's key. Credentials are optional but must be valid if sent. */
export const optionalApiToken: Authenticator<AuthenticatedSender | undefined, SecretServices> = {
  scheme: 'none',
  errorStatuses: ERROR_STATUSES,
  authenticate: authenticateApiToken,
}

/** For pages: no authentication, since a key in the URL is the credential. Applies RATE_LIMIT per address. */
export const rateLimitedAccess: Authenticator<undefined, SecretServices> = {
  scheme: 'none',
  errorStatuses: [429],
  authenticate({ ip }, { secrets }) {
    countAddress(secrets.rateLimit, ip)
    return undefined
  },
}

const ownOriginsOf = ({ secrets }: SecretServices) => secrets.trustedOrigins.ownOrigins

export const sameSiteForm = sameSite(rateLimitedAccess, ownOriginsOf)

/** The handler calls `countAddress`, so that an error still has the body. */
export const unlimitedSameSiteForm = sameSite(publicAccess, ownOriginsOf)

/** Requires an account's e-mail address and API token. For GET only, which needs no protection against cross-site requests. */
export const requiredApiToken: Authenticator<AuthenticatedSender, SecretServices> = {
  scheme: 'api-token',
  errorStatuses: [401, 429],
  authenticate: async (ctx, services) => (await authenticateApiToken(ctx, services)) ?? refuse(),
}

/** Requires an account, unless anonymous sharing is allowed. */
export const sharingAccess: Authenticator<AuthenticatedSender | undefined, SecretServices> = {
  scheme: 'api-token',
  errorStatuses: ERROR_STATUSES,
  async authenticate(ctx, services) {
    const sender = await authenticateApiToken(ctx, services)
    return sender === undefined && !services.secrets.allowsAnonymous ? refuse() : sender
  },
}

/** @throws RequestError forbidden, unauthenticated, too-many */
async function authenticateApiToken(
  { method, headers, ip, state: { waitBudget } }: EndpointContext,
  { secrets }: SecretServices,
): Promise<AuthenticatedSender | undefined> {
  const { apiTokens, rateLimit, trustedOrigins } = secrets
  if (method === 'POST') refuseCrossSite(headers, trustedOrigins)
  countAddress(rateLimit, ip)
  const credentials = credentialsOf(headers.authorization)
  if (credentials === undefined) return undefined
  const tokenHolder = await waitBudget.spendOn(() => apiTokens.verify({ ...credentials, address: ip }))
  // Invalid credentials are rejected even where none are required.
  if (tokenHolder === undefined) return refuse()
  countAccount(rateLimit, tokenHolder.account)
  return { ...tokenHolder, token: credentials.token }
}

/** Empty credentials (`Og==`) count as none, because some clients always send them. @throws RequestError unauthenticated */
function credentialsOf(header: string | undefined): { email: string; token: string } | undefined {
  if (header === undefined || header === '') return undefined
  const credentials = parseBasicCredentials(header)
  if (credentials?.user === '' && credentials.password === '') return undefined
  if (credentials === undefined || credentials.user === '' || credentials.password === '') return refuse()
  return { email: credentials.user, token: credentials.password }
}

function refuse(): never {
  throw new RequestError('unauthenticated', 'Not authorized')
}
