import { digestOf, randomToken } from '../../credentials/digests.ts'
import * as domain from '../../domain/account/account.ts'
import { changeAccount, type Accounts, type ChangedAccount } from './accounts.ts'
import type { Origin } from '../../events/origin.ts'

/** `id` names the token in lists; `token` is told this once, the log keeps its digest. */
export type IssuedApiToken = ChangedAccount & { readonly id: string; readonly token: string }

/** @param life milliseconds that it lives; undefined for one that does until it is ended */
export type WantedApiToken = { readonly email: string; readonly life: number | undefined }

/** @throws Refusal missing, or conflict when the account is disabled */
export async function issueApiToken(
  accounts: Accounts,
  { email, life }: WantedApiToken,
  origin: Origin,
): Promise<IssuedApiToken> {
  const token = randomToken()
  const digest = digestOf(token)
  const id = apiTokenId(digest)
  const changed = await changeAccount(accounts, email, origin, (account, at) =>
    domain.issueApiToken(account, { token: id, digest, at, ...(life !== undefined && { expiresAt: at + life }) }),
  )
  return { ...changed, id, token }
}

/** 48 bits of the digest: enough to tell an account's tokens apart, and found from the token itself. */
const apiTokenId = (digest: string) => Buffer.from(digest, 'base64url').toString('hex').slice(0, 12)

/**
 * @param wanted `token` is the token's id, as a list shows it
 * @throws Refusal missing
 */
export const revokeApiToken = (accounts: Accounts, wanted: { email: string; token: string }, origin: Origin) =>
  changeAccount(accounts, wanted.email, origin, (account) => domain.revokeApiToken(account, wanted))
