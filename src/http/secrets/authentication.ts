import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { ApiTokenHolder } from '../../commands/accounts/api-tokens.ts'
import type { SecretCommandContext } from '../../commands/secrets/secrets.ts'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import type { MailRateLimiter } from '../../credentials/mail-rate-limiter.ts'
import { RequestError } from '../../domain/decider.ts'
import type { RecentSecrets } from '../../projections/secrets/secrets.ts'
import { createResponse, type ResponseHeaders } from '../kit/response.ts'
import { parseBasicCredentials } from '../kit/authenticate.ts'
import { refuseCrossSite, type TrustedOrigins } from '../middleware/cors.ts'
import type { HttpRequest, EndpointGroup, HttpErrorDetails, Authenticator } from '../kit/endpoint.ts'

const UNKNOWN = 'Unknown secret'

/** What goes with a 401. */
const CHALLENGE: ResponseHeaders = { 'WWW-Authenticate': 'Basic realm="adamant secrets", charset="UTF-8"' }
const NONE: ResponseHeaders = {}

const SecretsError = z
  .object({
    message: z.string(),
    secret_key: z.string().optional().describe('The key of the path, where it is unknown.'),
  })
  .meta({ id: 'SecretsError' })

/** `{"message": "..."}` in the original's words, which clients match on. */
export const secretsGroup: EndpointGroup = {
  name: 'secrets',
  pathPrefixes: ['/api/v1'],
  errorFormat: { mediaType: 'application/json', schema: SecretsError },
  errorResponse: (details, _error, { params }) =>
    createResponse(details.status, bodyOf(details, params['key']), details.status === 401 ? CHALLENGE : NONE),
}

/** An unknown secret names the key of the path. */
function bodyOf({ status, faults }: HttpErrorDetails, key: string | undefined): object {
  if (status === 404) {
    return faults[0]?.message === UNKNOWN ? { secret_key: String(key), message: UNKNOWN } : { message: 'Not Found' }
  }
  if (status === 500) return { message: 'An unexpected error occurred :[' }
  return { message: faults.map(({ message }) => message).join('; ') }
}

/** Milliseconds of a window. */
const WINDOW = 600_000
/** So many accounts and addresses are counted; the oldest window is forgotten first. */
const MAX_WINDOWS = 100_000

/** The original's oldest words for it, which clients match on. */
const MESSAGE = 'Apologies dear citizen! You have been rate limited.'

type Window = { readonly until: number; count: number }

/** Counts requests in windows of 10 minutes, in this process. */
export class RateLimiter {
  readonly #windows = new LRUCache<string, Window>({ max: MAX_WINDOWS })

  /**
   * @param limit requests in a window; 0 for no limit
   * @param clock milliseconds that never go back, nor ahead with a clock that is wrong for a minute
   */
  constructor(
    private readonly limit: number,
    private readonly clock: () => number,
  ) {}

  /** @throws Refusal too-many */
  count(key: string): void {
    if (this.limit === 0) return
    const now = this.clock()
    const window = this.#windowOf(key, now)
    if (++window.count <= this.limit) return
    throw new RequestError('too-many', MESSAGE, Math.max(1, Math.ceil((window.until - now) / 1000)))
  }

  #windowOf(key: string, now: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && now < known.until) return known
    const window = { until: now + WINDOW, count: 0 }
    this.#windows.set(key, window)
    return window
  }
}

/** @throws Refusal too-many */
export const countAddress = (limit: RateLimiter, address: string): void => limit.count(`address ${networkOf(address)}`)

/** Beside its address. @throws Refusal too-many */
export const countAccount = (limit: RateLimiter, account: number): void => limit.count(`account ${account}`)

/** Tells whose an e-mail address and an API token are. */
export type ApiTokens = {
  verify(shown: { email: string; token: string; address: string }): Promise<ApiTokenHolder | undefined>
}

/** What the secrets API answers from. */
export type SecretServices = {
  readonly secrets: SecretCommandContext & {
    readonly recent: RecentSecrets
    readonly mailLimits: MailRateLimiter
    readonly apiTokens: ApiTokens
    readonly rateLimit: RateLimiter
    /** Whose pages may post here. */
    readonly trustedOrigins: TrustedOrigins
    /** Whether share and generate are open to who has no account. */
    readonly allowsAnonymous: boolean
  }
}

/** Who came with credentials. `token` is the API token itself: what is shared with it is found again by it alone. */
export type AuthenticatedSender = ApiTokenHolder & { readonly token: string }

const ERROR_STATUSES = [401, 403, 429] as const

/** Whoever knows a key; credentials that are sent with it must be right. */
export const optionalApiToken: Authenticator<AuthenticatedSender | undefined, SecretServices> = {
  scheme: 'none',
  errorStatuses: ERROR_STATUSES,
  authenticate: authenticateApiToken,
}

/** An account, by its e-mail address and an API token; it asks by GET alone, which no page of another site gains by. */
export const requiredApiToken: Authenticator<AuthenticatedSender, SecretServices> = {
  scheme: 'api-token',
  errorStatuses: [401, 429],
  authenticate: async (request, services) => (await authenticateApiToken(request, services)) ?? refuse(),
}

/** Who may share: an account, or anyone where the service is set up so. */
export const sharingAccess: Authenticator<AuthenticatedSender | undefined, SecretServices> = {
  scheme: 'api-token',
  errorStatuses: ERROR_STATUSES,
  async authenticate(request, services) {
    const sender = await authenticateApiToken(request, services)
    return sender === undefined && !services.secrets.allowsAnonymous ? refuse() : sender
  },
}

/** @throws Refusal forbidden, unauthenticated, too-many */
async function authenticateApiToken(
  { method, headers, clientAddress, waitBudget }: HttpRequest<unknown, unknown>,
  { secrets }: SecretServices,
): Promise<AuthenticatedSender | undefined> {
  const { apiTokens, rateLimit, trustedOrigins } = secrets
  if (method === 'POST') refuseCrossSite(headers, trustedOrigins)
  countAddress(rateLimit, clientAddress)
  const credentials = credentialsOf(headers.authorization)
  if (credentials === undefined) return undefined
  const account = await waitBudget.spendOn(() => apiTokens.verify({ ...credentials, address: clientAddress }))
  // Bad credentials are not anonymous: they are refused where none are needed too.
  if (account === undefined) return refuse()
  countAccount(rateLimit, account.account)
  return { ...account, token: credentials.token }
}

/** Empty ones (`Og==`) count as none, for programs that always send some. @throws Refusal unauthenticated */
function credentialsOf(header: string | undefined): { email: string; token: string } | undefined {
  if (header === undefined || header === '') return undefined
  const shown = parseBasicCredentials(header)
  if (shown?.user === '' && shown.password === '') return undefined
  if (shown === undefined || shown.user === '' || shown.password === '') return refuse()
  return { email: shown.user, token: shown.password }
}

function refuse(): never {
  throw new RequestError('unauthenticated', 'Not authorized')
}
