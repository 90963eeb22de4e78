import type { Addresses } from './addresses.ts'
import { AccessTokens } from './credentials/access-tokens.ts'
import type { Resource } from './http/app.ts'
import { authenticate } from './http/authenticate.ts'
import type { Step } from './http/request.ts'
import type { Installation } from './installation.ts'
import { SessionFeed } from './projections/sessions.ts'

export type TokenService = {
  readonly authenticate: Step
  readonly resources: (addresses: Addresses) => Resource[]
  readonly stop: () => void
}

/** The token server, and the check of its tokens that other resources stand behind. */
export async function openTokenService({ settings, store, writing, keys, log }: Installation): Promise<TokenService> {
  const { clock } = writing
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock })
  const feed = new SessionFeed({
    store,
    ttl: settings.TOKEN_TTL,
    clock,
    monotonic: () => performance.now(),
    failed: (error) => log.warn({ err: error }, 'the session feed was interrupted; taking it up again'),
  })
  await feed.start()
  return { authenticate: authenticate({ tokens, feed }), resources: () => [], stop: () => feed.stop() }
}
