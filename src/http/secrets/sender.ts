import type { ApiCaller } from '../../commands/accounts/api-tokens.ts'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import type { MailLimits } from '../../credentials/mail-limits.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { RecentSecrets } from '../../projections/secrets/recent-secrets.ts'
import { basicCredentials } from '../kit/basic.ts'
import { refuseCrossSite, type Sites } from '../kit/cross-site.ts'
import type { Asked, Who } from '../kit/endpoint.ts'
import { countAccount, countAddress, type RateLimit } from './rate-limit.ts'

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
