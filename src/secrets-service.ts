import type { Addresses } from './addresses.ts'
import { resealVault } from './commands/reseal-vault.ts'
import type { Secrets } from './commands/secrets.ts'
import { Letters } from './credentials/letters.ts'
import { Passphrases } from './credentials/passphrases.ts'
import { SecretBox } from './credentials/secret-box.ts'
import type { Resource } from './http/app.ts'
import { secretPageResources } from './http/secret-pages/routes.ts'
import { RateLimit } from './http/secrets/rate-limit.ts'
import { secretsResource } from './http/secrets/routes.ts'
import type { ApiTokens } from './http/secrets/sender.ts'
import type { Installation } from './installation.ts'
import { ActiveRunner } from './projections/active-runner.ts'
import { Mailer } from './projections/mailer.ts'
import { RecentSecrets } from './projections/recent-secrets.ts'
import { ProjectionRunner } from './projections/runner.ts'
import { SecretEndings } from './projections/secret-endings.ts'
import { SecretSweeper } from './projections/secret-sweeper.ts'
import { secrets as secretsProjection } from './projections/secrets.ts'
import type { From } from './stores/event-store.ts'

export type SecretsService = {
  readonly resources: (addresses: Addresses, apiTokens: ApiTokens) => Resource[]
  /** Starts what the projections role does: it deletes, expires and mails. */
  readonly start: (addresses: Addresses) => Promise<void>
  /** Whether the read model of secrets has come to a position. */
  readonly reached: (position: From) => boolean | Promise<boolean>
  readonly stop: () => Promise<void>
}

/** The one-time secrets: their API, and what happens to them without anybody asking. */
export async function openSecretsService(installation: Installation): Promise<SecretsService> {
  const { settings, store, reads, vault, mail, keys, writing, log } = installation
  const secrets: Secrets = {
    ...writing,
    vault,
    box: new SecretBox(keys, new Passphrases()),
    letters: new Letters(keys),
  }
  const model = await reads.model(secretsProjection.declaration)
  const runner = new ProjectionRunner(secretsProjection, store, reads, log)
  const active = new ActiveRunner(runner, reads, model, log)
  let mailer: Mailer | undefined
  const endings = new SecretEndings({ store, vault, log, mailDue: () => mailer?.wake() })
  const sweeper = new SecretSweeper(secrets, log)
  const rateLimit = new RateLimit(settings.RATE_LIMIT, writing.clock)
  const recent = new RecentSecrets(model, vault, store, active, writing.clock)
  return {
    resources: ({ secrets: address }, apiTokens) => [
      secretsResource({ secrets, recent, apiTokens, rateLimit, anonymous: settings.SECRETS_ANONYMOUS }),
      ...secretPageResources({ secrets, rateLimit, address }),
    ],
    async start({ secrets: address }) {
      if (!settings.ROLES.includes('projections')) return
      await active.start()
      endings.start()
      sweeper.start()
      mailer = new Mailer({ secrets, mail, from: settings.MAIL_FROM, address, log })
      mailer.start()
      if (keys.old !== undefined)
        log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
    },
    reached: (position) => active.reached(position, 0),
    async stop() {
      await mailer?.stop()
      await sweeper.stop()
      await endings.stop()
      await active.stop()
    },
  }
}
