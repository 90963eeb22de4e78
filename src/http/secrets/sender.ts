import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { ApiCaller } from '../../commands/accounts/api-tokens.ts'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import { networkOf } from '../../credentials/guess-limits.ts'
import type { MailLimits } from '../../credentials/mail-limits.ts'
import { Refusal } from '../../domain/decider.ts'
import type { RecentSecrets } from '../../projections/secrets/secrets.ts'
import { answer, type Headers } from '../kit/answer.ts'
import { basicCredentials } from '../kit/authenticate.ts'
import { refuseCrossSite, type Sites } from '../middleware/cors.ts'
import type { Asked, Family, Refused, Who } from '../kit/endpoint.ts'

const UNKNOWN = 'Unknown secret'

/** What goes with a 401. */
const CHALLENGE: Headers = { 'WWW-Authenticate': 'Basic realm="adamant secrets", charset="UTF-8"' }
const NONE: Headers = {}

const SecretsError = z
  .object({
    message: z.string(),
    secret_key: z.string().optional().describe('The key of the path, where it is unknown.'),
  })
  .meta({ id: 'SecretsError' })

/** `{"message": "..."}` in the original's words, which clients match on. */
export const secretsFamily: Family = {
  name: 'secrets',
  prefixes: ['/api/v1'],
  refusals: { media: 'application/json', schema: SecretsError },
  refusal: (refused, _error, { params }) =>
    answer(refused.status, bodyOf(refused, params['key']), refused.status === 401 ? CHALLENGE : NONE),
}

/** An unknown secret names the key of the path. */
function bodyOf({ status, faults }: Refused, key: string | undefined): object {
  if (status === 404) {
    return faults[0]?.message === UNKNOWN ? { secret_key: String(key), message: UNKNOWN } : { message: 'Not Found' }
  }
  if (status === 500) return { message: 'An unexpected error occurred :[' }
  return { message: faults.map(({ message }) => message).join('; ') }
}

/** Milliseconds of a window. */
const WINDOW = 600_000
/** So many accounts and addresses are counted; the oldest window is forgotten first. */
const REMEMBERED = 100_000

/** The original's oldest words for it, which clients match on. */
const MESSAGE = 'Apologies dear citizen! You have been rate limited.'

type Window = { readonly until: number; count: number }

/** Counts requests in windows of 10 minutes, in this process. */
export class RateLimit {
  readonly #windows = new LRUCache<string, Window>({ max: REMEMBERED })

  /**
   * @param limit requests in a window; 0 for no limit
   * @param clock milliseconds that never go back, nor ahead with a clock that is wrong for a minute
   */
  constructor(
    private readonly limit: number,
    private readonly clock: () => number,
  ) {}

  /** @throws Refusal too-many */
  count(who: string): void {
    if (this.limit === 0) return
    const now = this.clock()
    const window = this.#windowOf(who, now)
    if (++window.count <= this.limit) return
    throw new Refusal('too-many', MESSAGE, Math.max(1, Math.ceil((window.until - now) / 1000)))
  }

  #windowOf(who: string, now: number): Window {
    const known = this.#windows.get(who)
    if (known !== undefined && now < known.until) return known
    const window = { until: now + WINDOW, count: 0 }
    this.#windows.set(who, window)
    return window
  }
}

/** @throws Refusal too-many */
export const countAddress = (limit: RateLimit, address: string): void => limit.count(`address ${networkOf(address)}`)

/** Beside its address. @throws Refusal too-many */
export const countAccount = (limit: RateLimit, account: number): void => limit.count(`account ${account}`)

/** Tells whose an e-mail address and an API token are. */
export type ApiTokens = {
  verify(shown: { email: string; token: string; address: string }): Promise<ApiCaller | undefined>
}

/** What the secrets API answers from. */
export type SecretServices = {
  readonly secrets: Secrets & {
    readonly recent: RecentSecrets
    readonly mailLimits: MailLimits
    readonly apiTokens: ApiTokens
    readonly rateLimit: RateLimit
    /** Whose pages may post here. */
    readonly sites: Sites
    /** Whether share and generate are open to who has no account. */
    readonly anonymous: boolean
  }
}

/** Who came with credentials. `token` is the API token itself: what is shared with it is found again by it alone. */
export type Sender = ApiCaller & { readonly token: string }

const REFUSES = [401, 403, 429] as const

/** Whoever knows a key; credentials that are sent with it must be right. */
export const anyone: Who<Sender | undefined, SecretServices> = {
  scheme: 'none',
  refuses: REFUSES,
  admit: admitted,
}

/** An account, by its e-mail address and an API token; it asks by GET alone, which no page of another site gains by. */
export const account: Who<Sender, SecretServices> = {
  scheme: 'api-token',
  refuses: [401, 429],
  admit: async (asked, services) => (await admitted(asked, services)) ?? refuse(),
}

/** Who may share: an account, or anyone where the service is set up so. */
export const sharer: Who<Sender | undefined, SecretServices> = {
  scheme: 'api-token',
  refuses: REFUSES,
  async admit(asked, services) {
    const sender = await admitted(asked, services)
    return sender === undefined && !services.secrets.anonymous ? refuse() : sender
  },
}

/** @throws Refusal forbidden, unauthenticated, too-many */
async function admitted(
  { method, headers, address, patience }: Asked<unknown, unknown>,
  { secrets }: SecretServices,
): Promise<Sender | undefined> {
  const { apiTokens, rateLimit, sites } = secrets
  if (method === 'POST') refuseCrossSite(headers, sites)
  countAddress(rateLimit, address)
  const shown = credentialsOf(headers.authorization)
  if (shown === undefined) return undefined
  const caller = await patience.during(() => apiTokens.verify({ ...shown, address }))
  // Bad credentials are not anonymous: they are refused where none are needed too.
  if (caller === undefined) return refuse()
  countAccount(rateLimit, caller.account)
  return { ...caller, token: shown.token }
}

/** Empty ones (`Og==`) count as none, for programs that always send some. @throws Refusal unauthenticated */
function credentialsOf(header: string | undefined): { email: string; token: string } | undefined {
  if (header === undefined || header === '') return undefined
  const shown = basicCredentials(header)
  if (shown?.user === '' && shown.password === '') return undefined
  if (shown === undefined || shown.user === '' || shown.password === '') return refuse()
  return { email: shown.user, token: shown.password }
}

function refuse(): never {
  throw new Refusal('unauthenticated', 'Not authorized')
}
