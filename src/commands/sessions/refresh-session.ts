import { accountDecider } from '../../domain/account/account.ts'
import { GrantRefused, INVALID, refresh } from '../../domain/session/session.ts'
import { handle } from '../core/handle.ts'
import { load } from '../core/load.ts'
import { accountStream } from '../accounts/accounts.ts'
import type { Origin } from '../../events/origin.ts'
import {
  grant,
  newRefreshToken,
  noteAll,
  parseRefreshToken,
  sessionDeciderFor,
  sessionStream,
  type Granted,
  type RefreshToken,
  type Sessions,
} from './sessions.ts'
import type { VerifiedClient } from '../clients/verify-client.ts'

/**
 * Gives the next tokens for a refresh token, once: whoever comes second, in any process, is refused. One that was used
 * long ago ends its family.
 * @throws GrantRefused
 */
export async function refreshSession(
  sessions: Sessions,
  { token, client }: { token: string; client: VerifiedClient },
  origin: Origin,
): Promise<Granted> {
  const presented = parseRefreshToken(token)
  if (presented === undefined) throw new GrantRefused(INVALID)
  const { account, accountEpoch } = await holderOf(sessions, presented)
  const next = newRefreshToken(presented.session)
  const actor = `account-${account}`
  const wish = { stream: sessionStream(presented.session), origin: { ...origin, actor } }
  const epochs = { accountEpoch, logEpoch: sessions.logEpoch() }
  const asked = { presented: presented.digest, digest: next.digest, ...epochs, ...client }
  const { events } = await handle(sessions, wish, sessionDeciderFor(presented.digest), (session, now) =>
    refresh(session, { ...asked, now, expiresAt: now + sessions.refreshTtl * 1000 }),
  )
  const [first] = events
  if (first?.type === 'TokenRefreshed') return grant(sessions, next, first.data)
  noteAll(sessions, wish, events)
  if (events.some(({ type }) => type === 'RefreshReused')) {
    const { client: by } = client
    sessions.security({
      event: 'refresh-token-reused',
      account,
      client: by,
      session: presented.session,
      request: origin.correlation,
    })
  }
  throw new GrantRefused(INVALID)
}

/** The account behind the token as it is now. */
async function holderOf({ store }: Sessions, { session, digest }: RefreshToken) {
  const { state } = await load(store, sessionStream(session), sessionDeciderFor(digest))
  if (state.status !== 'open') throw new GrantRefused(INVALID)
  const { account } = state.current
  const holder = await load(store, accountStream(account), accountDecider)
  if (holder.state.status !== 'enabled') throw new GrantRefused(INVALID)
  return { account, accountEpoch: holder.state.epoch }
}
