import { BROWSER_TTL } from '../commands/sessions/sessions.ts'
import { AccessTokens } from '../credentials/access-tokens.ts'
import { GuessLimits } from '../credentials/guess-limits.ts'
import { LogInPlaces } from '../credentials/log-in-places.ts'
import { Passwords } from '../credentials/passwords.ts'
import { ApiTokenUses, ApiTokenVerifier } from '../commands/accounts/api-tokens.ts'
import type { LinkKeys } from '../commands/installation/link-key.ts'
import type { Bearer } from '../http/kit/authenticate.ts'
import type { BrowserSessions } from '../http/inventory/session.ts'
import type { TokenServices } from '../http/oauth/client.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { SessionFeed } from '../projections/sessions/sessions.ts'
import type { StaleReads } from '../projections/engine/stale-reads.ts'
import { securityLog } from './logs.ts'

export type OpenTokens = {
  /** What access tokens are checked with. */
  readonly bearer: Bearer
  /** For who comes with an e-mail address and an API token. */
  readonly apiTokens: ApiTokenVerifier
  /** What the token server answers from. */
  readonly sessions: TokenServices['sessions']
  /** What sessions in a browser are opened and checked with. */
  readonly browser: BrowserSessions
}

/** The token server, and the checks of its tokens that other resources stand behind. */
export async function openTokens(
  { settings, store, people, writing, keys, log, hashing }: Installation,
  parts: OpenParts,
  linkKeys: LinkKeys,
  stale: StaleReads,
): Promise<OpenTokens> {
  const { clock } = writing
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock })
  const places = new LogInPlaces(keys)
  const security = securityLog(log)
  const feed = new SessionFeed({
    store,
    // Those of browsers may live longer, and what was ended is remembered until it has expired.
    ttl: Math.max(settings.TOKEN_TTL, BROWSER_TTL),
    clock,
    monotonic,
    places,
    linkKeys,
    stale,
    log,
  })
  parts.add({ stage: 'views', name: 'sessions', stop: () => feed.stop(), figures: () => feed.figures })
  await feed.start()
  const guesses = new GuessLimits(monotonic, security)
  const passwords = new Passwords(hashing.passwords)
  parts.add({ stage: 'views', name: 'passwords', stop: () => passwords.close() })
  const note: SessionFeed['note'] = (event) => feed.note(event)
  const logEpoch = () => feed.logEpoch
  const sessions = {
    ...writing,
    tokens,
    refreshTtl: settings.REFRESH_TTL,
    logEpoch,
    note,
    passwords,
    guesses,
    places,
    security,
    feed,
  }
  const uses = new ApiTokenUses(writing, monotonic, (error) =>
    log.warn({ err: error, repeats: true }, 'the use of an API token could not be recorded; the next one tries again'),
  )
  return {
    bearer: { tokens, feed },
    apiTokens: new ApiTokenVerifier({ store, people, guesses, security, clock, monotonic, uses, feed }),
    sessions,
    browser: {
      sessions: { ...sessions, tokens: new AccessTokens({ keys, ttl: BROWSER_TTL, clock }), refreshTtl: BROWSER_TTL },
      feed,
    },
  }
}

/** Milliseconds that never go back, whatever happens to the clock. */
const monotonic = () => performance.now()
