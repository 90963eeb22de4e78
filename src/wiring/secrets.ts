import { Counter } from 'prom-client'
import type { SecretCommandContext } from '../commands/secrets/secrets.ts'
import { MailRateLimiter } from '../credentials/mail-rate-limiter.ts'
import { MailSeal } from '../credentials/sealing.ts'
import { PassphraseKdf } from '../credentials/passphrase-kdf.ts'
import { SecretBox } from '../credentials/secret-box.ts'
import type { PublicUrls } from '../http/kit/public-urls.ts'
import { RateLimiter, type ApiTokens, type SecretServices } from '../http/secrets/authentication.ts'
import type { ConsumerTools } from './consumers.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import { linkMessageIds, MAIL_OUTCOMES, Mailer } from '../reactions/mail/mailer.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import { RecentSecrets } from '../projections/secrets/secrets.ts'

export type OpenSecrets = {
  readonly services: (apiTokens: ApiTokens) => SecretServices['secrets']
  /** Tools for deletion, expiry and mails. */
  readonly tools: SecretReactionTools
}

type SecretReactionTools = Pick<ConsumerTools, 'secrets' | 'isClockSettled' | 'withdraw' | 'mailer'>

/** Opens one-time secrets: their API and pages, and their background work. */
export function openSecrets(
  { settings, vault, mail, keys, context, clock, log, hashing, metricsRegistry }: Installation,
  urls: PublicUrls,
  readModel: OpenReadModel,
  parts: ServiceParts,
): OpenSecrets {
  const passphrases = new PassphraseKdf()
  parts.add({ stage: 'dependencies', name: 'passphrases', stop: () => passphrases.close() })
  const secrets: SecretCommandContext = {
    ...context,
    vault,
    box: new SecretBox(keys, passphrases, hashing.passphrases),
    mailSeal: new MailSeal(keys),
  }
  const rateLimit = new RateLimiter(settings.RATE_LIMIT, () => performance.now())
  const recent = new RecentSecrets(readModel, vault, context.clock)
  const mailLimits = new MailRateLimiter({
    perRecipient: settings.MAILS_PER_RECIPIENT,
    perAccount: settings.MAILS_PER_ACCOUNT,
  })
  const attempts = new Counter({
    name: 'adamant_mails_total',
    help: 'Attempts to send a mail since the process started, by outcome',
    labelNames: ['outcome'],
    registers: [metricsRegistry],
  })
  for (const outcome of MAIL_OUTCOMES) attempts.inc({ outcome }, 0)
  const ownOrigins = [urls.base, urls.secrets].map((url) => new URL(url).origin)
  return {
    services: (apiTokens) => ({
      ...secrets,
      recent,
      rateLimit,
      mailLimits,
      allowsAnonymous: settings.SECRETS_ANONYMOUS,
      apiTokens,
      trustedOrigins: { ownOrigins, allowedOrigins: settings.CORS_ORIGINS },
    }),
    tools: {
      secrets,
      isClockSettled: clock.isSettled,
      withdraw: async (digests) => mail.withdraw?.(linkMessageIds(digests, settings.MAIL_FROM)),
      mailer: new Mailer({
        secrets,
        isClockSettled: clock.isSettled,
        mail,
        from: settings.MAIL_FROM,
        baseUrl: urls.secrets,
        log,
        onAttempt: (outcome) => attempts.inc({ outcome }),
      }),
    },
  }
}
