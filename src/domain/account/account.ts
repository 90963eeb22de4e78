import { z } from 'zod'
import { latestEventFold, type Fold } from '../fold.ts'
import { parseId } from '../entity-id.ts'
import { RequestError } from '../request-error.ts'
import { declareEvents, TIME, type EventOf } from '../event.ts'
import { EMAIL_REMOVED, legacyEmail } from './login.ts'

export const PLANS = ['basic', 'standard', 'pro'] as const
export type Plan = (typeof PLANS)[number]

const plan = z.enum(PLANS)
const epoch = z
  .int()
  .min(1)
  .describe('incremented when the tokens are revoked: a token with an earlier epoch is invalid')
const password = z.string().describe('bcrypt hash')
const token = z.string().describe('id of the token')

export const accountStream = (account: number) => `account-${account}`

/** An account's number, as people write it: `7` or `account-7`. @returns undefined for another text, such as an e-mail address */
export const parseAccountNumber = (text: string): number | undefined => parseId(text.replace(/^account-/, ''))

/**
 * An account owns diamonds and secrets. `password` is a bcrypt hash and `digest` a SHA-256 digest. `epoch` is incremented
 * when the account's tokens are revoked: a token with an earlier epoch is invalid, independent of any clock. Only events of
 * earlier releases contain the email address (`email`); see src/commands/accounts/account-directory.ts.
 */
export const accountEvents = declareEvents('account-{id}', {
  AccountRegistered: {
    about: 'An account was registered. Its email address is stored outside the log, so that it can be deleted.',
    payload: z.object({ email: legacyEmail, password, plan }),
    changes: [EMAIL_REMOVED],
    notShown: ['password'],
  },
  PasswordChanged: {
    about: "The password was changed, and the account's tokens were revoked.",
    payload: z.object({ password, epoch }),
    notShown: ['password'],
  },
  PlanChanged: { about: 'The plan was changed.', payload: z.object({ plan }) },
  AccountDisabled: {
    about: 'The account was disabled: log-ins are rejected, and its tokens were revoked.',
    payload: z.object({ epoch }),
  },
  AccountEnabled: {
    about: 'The account was enabled: it can log in again. Revoked tokens stay revoked.',
    payload: z.object({}),
  },
  AccountForgotten: {
    about:
      'The personal data of the account was erased: its email address was deleted, and the account cannot be used again.',
    payload: z.object({}),
  },
  ApiTokenIssued: {
    about: 'An API token for the secrets API was issued.',
    payload: z.object({
      token,
      digest: z.string().describe('SHA-256 of the token'),
      at: TIME,
      expiresAt: TIME.optional().describe(
        'milliseconds since 1970, UTC; absent if the token is valid until it is revoked',
      ),
    }),
    notShown: ['digest'],
  },
  ApiTokenRevoked: { about: 'An API token for the secrets API was revoked.', payload: z.object({ token }) },
})
export type AccountEvent = EventOf<typeof accountEvents>

export type ApiToken = EventOf<typeof accountEvents, 'ApiTokenIssued'>['data']

export type RegisteredAccount = {
  /** A forgotten account has no personal data left. It remains the owner of its diamonds and secrets. */
  readonly status: 'enabled' | 'disabled' | 'forgotten'
  /** Only if the account was registered by an earlier release, whose events contain the address. */
  readonly email?: string | undefined
  readonly password: string
  readonly plan: Plan
  readonly epoch: number
  readonly apiTokens: readonly ApiToken[]
}
export type Account = { readonly status: 'unknown' } | RegisteredAccount

export const accountFold: Fold<Account, AccountEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(account: Account, event: AccountEvent): Account {
  if (event.type === 'AccountRegistered') return { status: 'enabled', ...event.data, epoch: 0, apiTokens: [] }
  if (account.status === 'unknown') return account
  switch (event.type) {
    case 'PasswordChanged':
    case 'PlanChanged':
      return { ...account, ...event.data }
    case 'AccountDisabled':
      return { ...account, status: 'disabled', epoch: event.data.epoch }
    case 'AccountEnabled':
      return { ...account, status: 'enabled' }
    case 'AccountForgotten':
      return { ...account, status: 'forgotten', email: undefined }
    case 'ApiTokenIssued':
      return { ...account, apiTokens: [...account.apiTokens, event.data] }
    case 'ApiTokenRevoked':
      return { ...account, apiTokens: account.apiTokens.filter(({ token }) => token !== event.data.token) }
    default:
      return account
  }
}

export function register(
  account: Account,
  registration: { email: string; password: string; plan: Plan },
): AccountEvent[] {
  checkEmail(registration.email)
  if (account.status !== 'unknown') throw new RequestError('conflict', `${registration.email} is already registered`)
  return [{ type: 'AccountRegistered', data: { password: registration.password, plan: registration.plan } }]
}

export type ApiTokenHandling = 'ended' | 'kept'

export function changePassword(
  account: Account,
  { password, apiTokens }: { password: string; apiTokens: ApiTokenHandling },
): AccountEvent[] {
  const registeredAccount = requireNotForgotten(account)
  return [
    { type: 'PasswordChanged', data: { password, epoch: registeredAccount.epoch + 1 } },
    ...revokeApiTokens(registeredAccount, apiTokens),
  ]
}

export function changePlan(account: Account, { plan }: { plan: Plan }): AccountEvent[] {
  return requireRegisteredAccount(account).plan === plan ? [] : [{ type: 'PlanChanged', data: { plan } }]
}

export function disable(account: Account, { apiTokens }: { apiTokens: ApiTokenHandling }): AccountEvent[] {
  const registeredAccount = requireRegisteredAccount(account)
  if (registeredAccount.status !== 'enabled') return revokeApiTokens(registeredAccount, apiTokens)
  return [
    { type: 'AccountDisabled', data: { epoch: registeredAccount.epoch + 1 } },
    ...revokeApiTokens(registeredAccount, apiTokens),
  ]
}

/** One event per token: every release understands it. */
const revokeApiTokens = ({ apiTokens }: RegisteredAccount, handling: ApiTokenHandling): AccountEvent[] =>
  handling === 'kept' ? [] : apiTokens.map(({ token }) => ({ type: 'ApiTokenRevoked', data: { token } }))

/** Disables the account and revokes all its tokens, permanently. No events if the account was forgotten before. */
export function forget(account: Account): AccountEvent[] {
  if (requireRegisteredAccount(account).status === 'forgotten') return []
  return [...disable(account, { apiTokens: 'ended' }), { type: 'AccountForgotten', data: {} }]
}

export function enable(account: Account): AccountEvent[] {
  return requireNotForgotten(account).status === 'enabled' ? [] : [{ type: 'AccountEnabled', data: {} }]
}

export function issueApiToken(account: Account, apiToken: ApiToken): AccountEvent[] {
  if (requireNotForgotten(account).status === 'disabled') {
    throw new RequestError('conflict', 'The account is disabled; enable it first')
  }
  return [{ type: 'ApiTokenIssued', data: apiToken }]
}

export function revokeApiToken(account: Account, { token }: { token: string }): AccountEvent[] {
  if (!requireRegisteredAccount(account).apiTokens.some((apiToken) => apiToken.token === token)) {
    throw new RequestError('missing', `The account has no API token ${token}`)
  }
  return [{ type: 'ApiTokenRevoked', data: { token } }]
}

/** @throws RequestError missing if unknown; conflict if forgotten */
function requireNotForgotten(account: Account): RegisteredAccount {
  const registeredAccount = requireRegisteredAccount(account)
  if (registeredAccount.status === 'forgotten')
    throw new RequestError('conflict', 'The account was forgotten and cannot be used any more')
  return registeredAccount
}

/** @throws RequestError missing */
export function requireRegisteredAccount(account: Account): RegisteredAccount {
  if (account.status === 'unknown') throw new RequestError('missing', 'There is no such account')
  return account
}

/** One @ with something on both sides, at most 254 characters (RFC 5321, 4.5.3.1.3), no space or control character. */
function checkEmail(email: string): void {
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new RequestError('invalid', `email must have the form name@example.com, got ${email.slice(0, 80)}`)
  }
}

/** In a separate stream, so that account streams stay short. */
export const apiTokenUseEvents = declareEvents('apitoken-{account}-{token}', {
  ApiTokenUsed: {
    about: 'An API token was used. Recorded at most once an hour.',
    payload: z.object({ at: TIME }),
  },
})
export type ApiTokenUsed = EventOf<typeof apiTokenUseEvents>

export const apiTokenUseFold = latestEventFold<ApiTokenUsed>('ApiTokenUsed')

export const USE_RECORDING_INTERVAL_MS = 3_600_000

/** No event if a use was recorded within the last hour, by any process. */
export function recordApiTokenUse(last: ApiTokenUsed['data'] | undefined, now: number): ApiTokenUsed[] {
  if (last !== undefined && now - last.at < USE_RECORDING_INTERVAL_MS) return []
  return [{ type: 'ApiTokenUsed', data: { at: now } }]
}
