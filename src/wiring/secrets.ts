import type { Addresses } from './addresses.ts'
import { resealVault } from '../commands/secrets/reseal-vault.ts'
import type { Secrets } from '../commands/secrets/secrets.ts'
import { MailLimits } from '../credentials/mail-limits.ts'
import { Letters } from '../credentials/letters.ts'
import { Passphrases } from '../credentials/passphrases.ts'
import { SecretBox } from '../credentials/secret-box.ts'
import type { SecretPageServices } from '../http/secret-pages/pages.ts'
import { RateLimit } from '../http/secrets/rate-limit.ts'
import type { ApiTokens, SecretServices } from '../http/secrets/sender.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { ActiveRunner } from '../projections/engine/active-runner.ts'
import { KeptRunning } from '../projections/engine/keep-trying.ts'
import { linkMessageIds } from '../reactions/mail/mail-names.ts'
import { Mailer } from '../reactions/mail/mailer.ts'
import { RecentSecrets } from '../projections/secrets/recent-secrets.ts'
import { ownModel } from '../projections/engine/own-model.ts'
import { ProjectionRunner } from '../projections/engine/runner.ts'
import { SecretEndings } from '../reactions/secrets/secret-endings.ts'
import { SecretSweeper } from '../reactions/secrets/secret-sweeper.ts'
import { secrets as secretsProjection } from '../projections/secrets/secrets.ts'
import type { From } from '../stores/ports/event-store.ts'

export type OpenSecrets = {
  /** What the secrets API answers from. */
  readonly services: (addresses: Addresses, apiTokens: ApiTokens) => SecretServices['secrets']
  /** What the pages of secrets answer from. */
  readonly pages: (addresses: Addresses) => SecretPageServices['secretPages']
  /** Starts what the projections role does: it deletes, expires and mails. */
  readonly start: (addresses: Addresses) => Promise<void>
  /** Whether the read model of secrets has come to a position. */
  readonly reached: (position: From) => boolean | Promise<boolean>
}

/** Milliseconds until a vault that was away is looked at again. */
const RESEAL_AFTER = 5_000

/** The one-time secrets: their API, and what happens to them without anybody asking. */
export async function openSecrets(installation: Installation, parts: OpenParts): Promise<OpenSecrets> {
  const { settings, store, reads, vault, mail, keys, writing, log } = installation
  const passphrases = new Passphrases()
  parts.add({ stage: 'views', name: 'passphrases', stop: () => passphrases.close() })
  const secrets: Secrets = {
    ...writing,
    vault,
    box: new SecretBox(keys, passphrases),
    letters: new Letters(keys),
  }
  const model = await ownModel(reads, store, secretsProjection.declaration)
  const runner = new ProjectionRunner(secretsProjection, store, reads, log)
  const active = new ActiveRunner(runner, reads, model, log)
  parts.add({ stage: 'views', name: 'secrets', stop: () => active.stop(), figures: () => active.figures })
  let mailer: Mailer | undefined
  const endings = new SecretEndings({
    store,
    vault,
    log,
    mailDue: () => mailer?.wake(),
    withdraw: async (digests) => mail.withdraw?.(linkMessageIds(digests, settings.MAIL_FROM)),
  })
  const sweeper = new SecretSweeper(secrets, log)
  const rateLimit = new RateLimit(settings.RATE_LIMIT, () => performance.now())
  const recent = new RecentSecrets(model, vault, store, active, writing.clock)
  // Where the vault is away, later: until then both master keys open what there is.
  const reseal = async (): Promise<'done'> => {
    log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
    return 'done'
  }
  const resealing = new KeptRunning('resealing', log, reseal, { every: RESEAL_AFTER })
  for (const [name, work] of Object.entries({ endings, sweeper, resealing })) {
    const figures = () => [work.figures].flat()
    parts.add({ stage: 'requests', name, stop: () => work.stop(), figures })
  }

  const mailLimits = new MailLimits({
    perRecipient: settings.MAILS_PER_RECIPIENT,
    perAccount: settings.MAILS_PER_ACCOUNT,
  })
  const api = { ...secrets, recent, rateLimit, mailLimits, anonymous: settings.SECRETS_ANONYMOUS }
  const originsOf = ({ base, secrets: own }: Addresses) => [base, own].map((address) => new URL(address).origin)
  return {
    services: (addresses, apiTokens) => ({
      ...api,
      apiTokens,
      sites: { own: originsOf(addresses), allowed: settings.CORS_ORIGINS },
    }),
    pages: (addresses) => ({ secrets, rateLimit, address: addresses.secrets, own: originsOf(addresses) }),
    async start({ secrets: address }) {
      if (!settings.ROLES.includes('projections')) return
      await active.start()
      endings.start()
      sweeper.start()
      mailer = new Mailer({ secrets, mail, from: settings.MAIL_FROM, address, log })
      parts.add({ stage: 'requests', name: 'mails', stop: async () => mailer?.stop() })
      mailer.start()
      if (keys.old !== undefined) resealing.start()
    },
    reached: (position) => active.reached(position, 0),
  }
}
