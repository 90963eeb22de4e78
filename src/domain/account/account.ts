import { z } from 'zod'
import { latestEventDecider, RequestError, type Decider } from '../decider.ts'
import { declareEvents, TIME, type EventOf } from '../event.ts'
import { EMAIL_REMOVED, legacyEmail } from './login.ts'

export const PLANS = ['basic', 'standard', 'pro'] as const
export type Plan = (typeof PLANS)[number]

const plan = z.enum(PLANS)
const epoch = z.int().min(1).describe('counts what ended the tokens: those of an earlier epoch are dead')
const password = z.string().describe('bcrypt hash')
const token = z.string().describe('id of the token')

export const accountStream = (account: number) => `account-${account}`

/**
 * Somebody who owns diamonds and secrets. `password` is a bcrypt hash and `digest` a SHA-256 digest, never the thing
 * itself. `epoch` counts what ended the account's tokens: a token of an earlier epoch is dead, whatever the clocks say.
 * The address stands in no event but those of former releases (`email`): src/commands/accounts/account-directory.ts.
 */
export const accountEvents = declareEvents('account-{id}', {
  AccountRegistered: {
    about: 'An account was registered. Its address lies beside the log, so that it can be forgotten.',
    payload: z.object({ email: legacyEmail, password, plan }),
    changes: [EMAIL_REMOVED],
    notShown: ['password'],
  },
  PasswordChanged: {
    about: 'It has a new password; its tokens ended.',
    payload: z.object({ password, epoch }),
    notShown: ['password'],
  },
  PlanChanged: { about: 'It has another plan.', payload: z.object({ plan }) },
  AccountDisabled: { about: 'Nobody can log in as it; its tokens ended.', payload: z.object({ epoch }) },
  AccountEnabled: {
    about: 'It can log in again; tokens that ended stay ended.',
    payload: z.object({}),
  },
  AccountForgotten: {
    about: 'The person behind it was forgotten: its address was deleted, and nobody can use it again.',
    payload: z.object({}),
  },
  ApiTokenIssued: {
    about: 'It got a token of the secrets API.',
    payload: z.object({
      token,
      digest: z.string().describe('SHA-256 of the token'),
      at: TIME,
      expiresAt: TIME.optional().describe('milliseconds since 1970, UTC; without it the token lives until it is ended'),
    }),
    notShown: ['digest'],
  },
  ApiTokenRevoked: { about: 'A token of the secrets API was ended.', payload: z.object({ token }) },
})
export type AccountEvent = EventOf<typeof accountEvents>

export type ApiToken = EventOf<typeof accountEvents, 'ApiTokenIssued'>['data']

export type RegisteredAccount = {
  /** Who was forgotten is nobody any more: the account stays as the owner of what it owns. */
  readonly status: 'enabled' | 'disabled' | 'forgotten'
  /** Where the log has it, of a former release. */
  readonly email?: string | undefined
  readonly password: string
  readonly plan: Plan
  readonly epoch: number
  readonly apiTokens: readonly ApiToken[]
}
export type Account = { readonly status: 'unknown' } | RegisteredAccount

export const accountDecider: Decider<Account, AccountEvent> = { initialState: { status: 'unknown' }, evolve }

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

export function register(account: Account, given: { email: string; password: string; plan: Plan }): AccountEvent[] {
  checkEmail(given.email)
  if (account.status !== 'unknown') throw new RequestError('conflict', `${given.email} is already registered`)
  return [{ type: 'AccountRegistered', data: { password: given.password, plan: given.plan } }]
}

/** What happens to an account's API tokens when its other tokens end. */
export type ApiTokenHandling = 'ended' | 'kept'

export function changePassword(
  account: Account,
  { password, apiTokens }: { password: string; apiTokens: ApiTokenHandling },
): AccountEvent[] {
  const known = requireNotForgotten(account)
  return [{ type: 'PasswordChanged', data: { password, epoch: known.epoch + 1 } }, ...revokeApiTokens(known, apiTokens)]
}

export function changePlan(account: Account, { plan }: { plan: Plan }): AccountEvent[] {
  return requireRegisteredAccount(account).plan === plan ? [] : [{ type: 'PlanChanged', data: { plan } }]
}

export function disable(account: Account, { apiTokens }: { apiTokens: ApiTokenHandling }): AccountEvent[] {
  const known = requireRegisteredAccount(account)
  if (known.status !== 'enabled') return revokeApiTokens(known, apiTokens)
  return [{ type: 'AccountDisabled', data: { epoch: known.epoch + 1 } }, ...revokeApiTokens(known, apiTokens)]
}

/** Each by its own event, which every release understands. */
const revokeApiTokens = ({ apiTokens }: RegisteredAccount, fate: ApiTokenHandling): AccountEvent[] =>
  fate === 'kept' ? [] : apiTokens.map(({ token }) => ({ type: 'ApiTokenRevoked', data: { token } }))

/** Ends all that lets anybody in, for good. Nothing where it was done before. */
export function forget(account: Account): AccountEvent[] {
  if (requireRegisteredAccount(account).status === 'forgotten') return []
  return [...disable(account, { apiTokens: 'ended' }), { type: 'AccountForgotten', data: {} }]
}

export function enable(account: Account): AccountEvent[] {
  return requireNotForgotten(account).status === 'enabled' ? [] : [{ type: 'AccountEnabled', data: {} }]
}

export function issueApiToken(account: Account, issued: ApiToken): AccountEvent[] {
  if (requireNotForgotten(account).status === 'disabled') {
    throw new RequestError('conflict', 'The account is disabled; enable it first')
  }
  return [{ type: 'ApiTokenIssued', data: issued }]
}

export function revokeApiToken(account: Account, { token }: { token: string }): AccountEvent[] {
  if (!requireRegisteredAccount(account).apiTokens.some((known) => known.token === token)) {
    throw new RequestError('missing', `The account has no API token ${token}`)
  }
  return [{ type: 'ApiTokenRevoked', data: { token } }]
}

/** @throws Refusal missing; conflict for one that was forgotten */
function requireNotForgotten(account: Account): RegisteredAccount {
  const known = requireRegisteredAccount(account)
  if (known.status === 'forgotten')
    throw new RequestError('conflict', 'The account was forgotten: nobody can use it any more')
  return known
}

/** @throws Refusal missing */
export function requireRegisteredAccount(account: Account): RegisteredAccount {
  if (account.status === 'unknown') throw new RequestError('missing', 'There is no such account')
  return account
}

/** One @ with something on both sides, at most 254 characters (RFC 5321, 4.5.3.1.3), no space or control character. */
function checkEmail(email: string): void {
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new RequestError('invalid', `An e-mail address has the form name@example.com, got ${email.slice(0, 80)}`)
  }
}

/** A stream of its own keeps accounts short. */
export const apiTokenUseEvents = declareEvents('apitoken-{account}-{token}', {
  ApiTokenUsed: {
    about: 'A token of the secrets API was used; written once an hour at most.',
    payload: z.object({ at: TIME }),
  },
})
export type ApiTokenUsed = EventOf<typeof apiTokenUseEvents>

export const apiTokenUseDecider = latestEventDecider<ApiTokenUsed>('ApiTokenUsed')

/** Milliseconds within which uses count as one. */
export const USE_RECORDING_INTERVAL_MS = 3_600_000

/** Nothing where a use of the last hour is known already, of whatever process. */
export function recordApiTokenUse(last: ApiTokenUsed['data'] | undefined, now: number): ApiTokenUsed[] {
  if (last !== undefined && now - last.at < USE_RECORDING_INTERVAL_MS) return []
  return [{ type: 'ApiTokenUsed', data: { at: now } }]
}
