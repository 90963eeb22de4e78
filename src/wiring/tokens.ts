import { BROWSER_SESSION_TTL_SECONDS } from '../commands/sessions/sessions.ts'
import { AccessTokens } from '../credentials/access-tokens.ts'
import { FailedAttemptLimiter } from '../credentials/failed-attempt-limiter.ts'
import { FamiliarAddresses } from '../credentials/familiar-addresses.ts'
import { PasswordHasher } from '../credentials/password-hasher.ts'
import { ApiTokenUseRecorder, ApiTokenVerifier } from '../commands/accounts/api-tokens.ts'
import type { LinkKeys } from '../commands/installation/link-key.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import { TokenRevocationList } from '../projections/sessions/token-revocations.ts'
import type { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import { createSecurityLogger } from './logs.ts'

/** Opens the token server, and the authentication of requests by its tokens. */
export async function openTokens(
  { settings, store, people, context, keys, log, hashing }: Installation,
  parts: ServiceParts,
  linkKeys: LinkKeys,
  stale: StaleReadPolicy,
) {
  const { clock } = context
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock })
  const familiarAddresses = new FamiliarAddresses(keys)
  const security = createSecurityLogger(log)
  const feed = new TokenRevocationList({
    store,
    // Browser sessions may outlive TOKEN_TTL; revocations are kept until the longest-lived tokens expire.
    ttlSeconds: Math.max(settings.TOKEN_TTL, BROWSER_SESSION_TTL_SECONDS),
    clock,
    monotonic,
    loginLocations: familiarAddresses,
    linkKeys,
    stale,
    log,
  })
  parts.add({ stage: 'dependencies', name: 'sessions', stop: () => feed.stop(), counters: () => feed.counters })
  await feed.start()
  const attemptLimiter = new FailedAttemptLimiter(monotonic, security)
  const passwords = new PasswordHasher(hashing.passwords)
  parts.add({ stage: 'dependencies', name: 'passwords', stop: () => passwords.close() })
  const note: TokenRevocationList['applyEvent'] = (event) => feed.applyEvent(event)
  const logEpoch = () => feed.logEpoch
  const sessions = {
    ...context,
    tokens,
    refreshTtl: settings.REFRESH_TTL,
    logEpoch,
    note,
    passwords,
    attemptLimiter,
    familiarAddresses,
    security,
    feed,
  }
  const useRecorder = new ApiTokenUseRecorder(context, monotonic, (error) =>
    log.warn({ err: error, repeats: true }, 'the use of an API token could not be recorded; the next use tries again'),
  )
  return {
    bearer: { tokens, feed },
    apiTokens: new ApiTokenVerifier({ store, people, attemptLimiter, security, clock, monotonic, useRecorder, feed }),
    sessions,
    browser: {
      sessions: {
        ...sessions,
        tokens: new AccessTokens({ keys, ttl: BROWSER_SESSION_TTL_SECONDS, clock }),
        refreshTtl: BROWSER_SESSION_TTL_SECONDS,
      },
      feed,
    },
  }
}

/** Milliseconds of a clock that never goes back. */
const monotonic = () => performance.now()
