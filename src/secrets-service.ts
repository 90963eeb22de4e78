import type { Addresses } from './addresses.ts'
import { resealVault } from './commands/reseal-vault.ts'
import type { Secrets } from './commands/secrets.ts'
import { Letters } from './credentials/letters.ts'
import { Passphrases } from './credentials/passphrases.ts'
import { SecretBox } from './credentials/secret-box.ts'
import type { Resource } from './http/app.ts'
import type { Direct } from './http/direct.ts'
import { errorLog } from './http/errors.ts'
import { secretPageResources } from './http/secret-pages/routes.ts'
import { directSecrets } from './http/secrets/direct-secrets.ts'
import { RateLimit } from './http/secrets/rate-limit.ts'
import { secretsResource } from './http/secrets/routes.ts'
import type { ApiTokens } from './http/secrets/sender.ts'
import type { Installation } from './installation.ts'
import { ActiveRunner } from './projections/active-runner.ts'
import { Mailer } from './projections/mailer.ts'
import { RecentSecrets } from './projections/recent-secrets.ts'
import { ownModel } from './projections/own-model.ts'
import { ProjectionRunner } from './projections/runner.ts'
import { SecretEndings } from './projections/secret-endings.ts'
import { SecretSweeper } from './projections/secret-sweeper.ts'
import { secrets as secretsProjection } from './projections/secrets.ts'
import { StoreUnavailable, type From } from './stores/event-store.ts'

export type SecretsService = {
  readonly resources: (addresses: Addresses, apiTokens: ApiTokens) => Resource[]
  /** Answers plain shares and reveals without the framework. */
  readonly direct: (apiTokens: ApiTokens) => Direct
  /** Starts what the projections role does: it deletes, expires and mails. */
  readonly start: (addresses: Addresses) => Promise<void>
  /** Whether the read model of secrets has come to a position. */
  readonly reached: (position: From) => boolean | Promise<boolean>
  readonly stop: () => Promise<void>
}

/** Milliseconds until a vault that was away is looked at again. */
const RESEAL_AFTER = 5_000

/** The one-time secrets: their API, and what happens to them without anybody asking. */
export async function openSecretsService(installation: Installation): Promise<SecretsService> {
  const { settings, store, reads, vault, mail, keys, writing, log } = installation
  const passphrases = new Passphrases()
  const secrets: Secrets = {
    ...writing,
    vault,
    box: new SecretBox(keys, passphrases),
    letters: new Letters(keys),
  }
  const model = await ownModel(reads, store, secretsProjection.declaration)
  const runner = new ProjectionRunner(secretsProjection, store, reads, log)
  const active = new ActiveRunner(runner, reads, model, log)
  let mailer: Mailer | undefined
  const endings = new SecretEndings({ store, vault, log, mailDue: () => mailer?.wake() })
  const sweeper = new SecretSweeper(secrets, log)
  const rateLimit = new RateLimit(settings.RATE_LIMIT, writing.clock)
  const recent = new RecentSecrets(model, vault, store, active, writing.clock)
  let resealing: NodeJS.Timeout | undefined

  /** Where the vault is away, later: until then both master keys open what there is. */
  async function reseal(): Promise<void> {
    try {
      log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      resealing = setTimeout(() => void reseal(), RESEAL_AFTER).unref()
    }
  }

  const api = { secrets, recent, rateLimit, anonymous: settings.SECRETS_ANONYMOUS }
  return {
    resources: ({ secrets: address }, apiTokens) => [
      secretsResource({ ...api, apiTokens }),
      ...secretPageResources({ secrets, rateLimit, address }),
    ],
    direct: (apiTokens) => directSecrets({ ...api, apiTokens }, errorLog(log)),
    async start({ secrets: address }) {
      if (!settings.ROLES.includes('projections')) return
      await active.start()
      endings.start()
      sweeper.start()
      mailer = new Mailer({ secrets, mail, from: settings.MAIL_FROM, address, log })
      mailer.start()
      if (keys.old !== undefined) await reseal()
    },
    reached: (position) => active.reached(position, 0),
    async stop() {
      clearTimeout(resealing)
      await mailer?.stop()
      await sweeper.stop()
      await endings.stop()
      await active.stop()
      await passphrases.close()
    },
  }
}
