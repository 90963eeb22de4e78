import { clientDecider } from '../../domain/client/client.ts'
import { accountDecider } from '../../domain/account/account.ts'
import type { AccessClaims } from '../../credentials/access-tokens.ts'
import { accountStream } from '../accounts/accounts.ts'
import { clientStream } from '../clients/clients.ts'
import { load } from '../core/load.ts'
import { parseRefreshToken, sessionDeciderFor, sessionStream, type Sessions } from './sessions.ts'
import { sameEpoch } from '../../domain/installation/installation.ts'
import type { Grant } from '../../domain/session/session.ts'

export type Inspecting = Sessions & {
  readonly feed: { isLive(claims: AccessClaims): boolean | Promise<boolean> }
}

/** A token that is good now. Times in milliseconds since 1970. */
export type Inspected = {
  readonly account: number
  readonly email: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly kind: 'access' | 'refresh'
}

/** What a token of this client is; undefined for one that is not good, or another client's (RFC 7662, section 2.2). */
export async function inspectToken(
  inspecting: Inspecting,
  { token, client }: { token: string; client: string },
): Promise<Inspected | undefined> {
  const found = await (parseRefreshToken(token) === undefined ? accessToken : refreshToken)(inspecting, token)
  if (found === undefined || found.grant.client !== client) return undefined
  const { grant, issuedAt, expiresAt, kind } = found
  const account = await load(inspecting.store, accountStream(grant.account), accountDecider)
  const { state: owner } = await load(inspecting.store, clientStream(client), clientDecider)
  if (account.state.status !== 'enabled' || account.state.epoch !== grant.accountEpoch) return undefined
  if (!sameEpoch(grant.logEpoch, inspecting.logEpoch())) return undefined
  if (owner.status !== 'enabled' || owner.epoch !== grant.clientEpoch) return undefined
  const email = await inspecting.people.shownAs(grant.account, account.state)
  return { account: grant.account, email, issuedAt, expiresAt, kind }
}

type Found = Omit<Inspected, 'account' | 'email'> & { readonly grant: Grant }

async function accessToken({ tokens, feed }: Inspecting, token: string): Promise<Found | undefined> {
  const claims = tokens.verify(token)
  if (typeof claims === 'string' || !(await feed.isLive(claims))) return undefined
  return { grant: claims, issuedAt: claims.issuedAt, expiresAt: claims.expiresAt, kind: 'access' }
}

async function refreshToken({ store, clock }: Inspecting, token: string): Promise<Found | undefined> {
  const parsed = parseRefreshToken(token)
  if (parsed === undefined) return undefined
  const { state } = await load(store, sessionStream(parsed.session), sessionDeciderFor(parsed.digest))
  if (state.status !== 'open' || state.current.digest !== parsed.digest) return undefined
  const { at, expiresAt } = state.current
  return clock() < expiresAt ? { grant: state.current, issuedAt: at, expiresAt, kind: 'refresh' } : undefined
}
