import type { Registry } from 'prom-client'
import type { AccountCommandContext } from '../commands/accounts/accounts.ts'
import type { AccountDirectory } from '../commands/accounts/account-directory.ts'
import type { MasterKeys } from '../credentials/master-keys.ts'
import type { ScryptCost } from '../credentials/passphrase-kdf.ts'
import type { StoreIdentities } from '../domain/installation/installation.ts'
import type { ProgramLimits } from '../runtime/program-limits.ts'
import type { CircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { SteadyClock } from '../runtime/steady-clock.ts'
import type { Settings } from './settings.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import type { FileStore } from '../stores/ports/file-store.ts'
import type { MailTransport } from '../stores/ports/mail.ts'
import type { PersonStore } from '../stores/ports/person-store.ts'
import type { ReadStore } from '../stores/ports/read-store.ts'
import type { HighWaterMarkStore } from '../stores/ports/high-water-mark.ts'
import type { Vault } from '../stores/ports/vault.ts'

/**
 * What an installation is opened for: `made` creates it if there is none, `existing` never does. `served` and
 * `served read-only` are the same two for a service, which waits for a log on a server and checks it then. `filled` opens
 * an empty one that another installation is copied into, before it is complete.
 */
export type InstallationPurpose = 'made' | 'existing' | 'served' | 'served read-only' | 'filled'

/** The settings do not point to an installation. */
export class NoInstallation extends Error {
  override readonly name = 'NoInstallation'
}

/** DATA_DIR is unusable; the message contains the system's error. */
export class BadFolder extends Error {
  override readonly name = 'BadFolder'
}

/** The open stores and keys of one installation, used by the service and by every command. */
export type Installation = {
  readonly settings: Settings
  readonly log: AppLogger
  readonly store: EventStore
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: PersonStore
  readonly files: FileStore
  readonly mail: MailTransport
  /** Location of vault and files for display, without passwords. */
  readonly place: string
  /** `now` is also the clock of `context`. */
  readonly clock: SteadyClock
  readonly highWaterMarks: HighWaterMarkStore
  readonly keys: MasterKeys
  readonly people: AccountDirectory
  readonly context: AccountCommandContext
  /** Milliseconds that a request waits for read models, in total. */
  readonly readModelTimeoutMs: number
  /** Maximum number of diamonds that a list without an index may scan. */
  readonly maxScannedDiamonds: number
  /** Cost of hashing passwords (bcrypt) and deriving keys from passphrases (scrypt). */
  readonly hashing: { readonly passwords: number; readonly passphrases: ScryptCost }
  readonly breakers: readonly CircuitBreaker[]
  /** Limits of the process that reads a report. */
  readonly reportReaderLimits: ProgramLimits
  /** All metrics of `/metrics`. */
  readonly metricsRegistry: Registry
  /** Counters of the event store since it was opened, by name. */
  counters(): Readonly<Record<string, number>>
  close(): Promise<void>
}

/** Identities of the opened vault and files, to be compared with those in the log. @throws StoreUnavailable */
export const storeIdentitiesOf = async ({ vault, files, place }: Installation): Promise<StoreIdentities> => ({
  vault: await vault.identity(),
  files: await files.identity(),
  place,
})
