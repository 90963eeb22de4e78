import { AccountDirectory } from '../../../src/commands/accounts/account-directory.ts'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { SecretCommandContext } from '../../../src/commands/secrets/secrets.ts'
import type { ShareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { MailSeal } from '../../../src/credentials/sealing.ts'
import { openMasterKeys, type MasterKeys } from '../../../src/credentials/master-keys.ts'
import { PassphraseKdf } from '../../../src/credentials/passphrase-kdf.ts'
import { SecretBox } from '../../../src/credentials/secret-box.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import { withFolder } from '../../temporary-folder.ts'
import { CHEAP_HASHES } from '../../credentials/cheap-hashes.ts'

export const origin = { actor: 'anonymous', via: 'http', correlation: 'test' } as const

/** A clock that a test moves: milliseconds since 1970. */
export type Clock = { now: number }

export const newMasterKey = (): string => randomBytes(32).toString('base64')
export const masterKeys = (masterKey: string, masterKeyOld?: string): MasterKeys =>
  openMasterKeys({ dataDir: '', masterKey, masterKeyOld })

export type SecretsProcess = SecretCommandContext & { readonly keys: MasterKeys; close(): Promise<void> }

const KEYS = masterKeys(newMasterKey())

/** Opens what one process needs for secrets, on the files of a folder. */
export function openSecrets(folder: string, time: Clock, keys = KEYS): SecretsProcess {
  const store = openSqliteEventStore(join(folder, 'events.db'))
  const vault = openSqliteVault(join(folder, 'vault.db'))
  const context = { ...createCommandContext(store, () => time.now), monotonic: () => 0 }
  return {
    ...context,
    people: new AccountDirectory(context, vault.persons, keys),
    vault,
    keys,
    box: new SecretBox(keys, new PassphraseKdf(), CHEAP_HASHES.passphrases),
    mailSeal: new MailSeal(keys),
    async close() {
      await store.close()
      await vault.close()
    },
  }
}

/** Runs with two processes on a new folder. */
export const withTwo = (run: (one: SecretsProcess, other: SecretsProcess, time: Clock) => Promise<void>) =>
  withFolder(async (folder) => {
    const time = { now: Date.UTC(2026, 0, 1) }
    const [one, other] = [openSecrets(folder, time), openSecrets(folder, time)]
    try {
      await run(one, other, time)
    } finally {
      await one.close()
      await other.close()
    }
  })

export const ann = { account: 1, email: 'ann@example.com', apiToken: 'abc', token: 'the token of Ann' }

export const shareCommand = (given: Partial<ShareSecret> = {}): ShareSecret => ({
  value: 'a value',
  kind: 'shared',
  passphrase: '',
  ttl: 3600,
  recipients: [],
  notify: false,
  sender: ann,
  origin,
  ...given,
})

/** Counts the calls that succeeded. All others must have been refused with this message. */
export async function succeeded(calls: readonly Promise<unknown>[], message: string): Promise<number> {
  const outcomes = await Promise.allSettled(calls)
  const others = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason))
  for (const other of others) if (!other.includes(message)) throw new Error(`expected ${message}, got ${other}`)
  return outcomes.length - others.length
}
