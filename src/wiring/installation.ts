import type { Registry } from 'prom-client'
import type { AccountCommandContext } from '../commands/accounts/accounts.ts'
import type { AccountDirectory } from '../commands/accounts/account-directory.ts'
import type { MasterKeys } from '../credentials/master-keys.ts'
import type { ScryptCost } from '../credentials/passphrase-kdf.ts'
import type { StoreIdentities } from '../domain/installation/installation.ts'
import type { PdfReaderLimits } from '../reports/pdf-reader.ts'
import type { CircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { Settings } from './settings.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import type { FileStore } from '../stores/ports/file-store.ts'
import type { MailTransport } from '../stores/ports/mail.ts'
import type { PersonStore } from '../stores/ports/person-store.ts'
import type { ReadStore } from '../stores/ports/read-store.ts'
import type { HighWaterMarkStore } from '../stores/ports/high-water-mark.ts'
import type { Vault } from '../stores/ports/vault.ts'

/**
 * What an installation is opened for: `made` makes it where there is none, `existing` never does, `filled` is an empty one that
 * another one is copied into, before it is complete.
 */
export type InstallationPurpose = 'made' | 'existing' | 'filled'

/** There is nothing to be read where the settings point at. */
export class NoInstallation extends Error {
  override readonly name = 'NoInstallation'
}

/** DATA_DIR can't be used, and the system's error says why. */
export class BadFolder extends Error {
  override readonly name = 'BadFolder'
}

/** The stores and keys of one installation, open: what the service and every command work with. */
export type Installation = {
  readonly settings: Settings
  readonly log: AppLogger
  readonly store: EventStore
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: PersonStore
  readonly files: FileStore
  readonly mail: MailTransport
  /** Where vault and files are, for people: without a password. */
  readonly place: string
  readonly seen: HighWaterMarkStore
  readonly keys: MasterKeys
  readonly people: AccountDirectory
  readonly writing: AccountCommandContext
  /** Milliseconds that a request waits for read models, in all. */
  readonly readModelTimeoutMs: number
  /** Diamonds that a list may look through where no index serves it. */
  readonly maxScannedDiamonds: number
  /** What it costs to hash a password (bcrypt) and to stretch a passphrase (scrypt). */
  readonly hashing: { readonly passwords: number; readonly passphrases: ScryptCost }
  /** Of the stores on servers. */
  readonly breakers: readonly CircuitBreaker[]
  /** Of the process that reads a report. */
  readonly reportReaderLimits: PdfReaderLimits
  /** What is counted as it happens, for `/metrics`; how long the stores above take is in it. */
  readonly metricsRegistry: Registry
  /** What the event store counted since it was opened, by the counter's name. */
  counters(): Readonly<Record<string, number>>
  close(): Promise<void>
}

/** The vault and the files at hand, as the log is to know them. @throws StoreUnavailable */
export const storeIdentitiesOf = async ({ vault, files, place }: Installation): Promise<StoreIdentities> => ({
  vault: await vault.identity(),
  files: await files.identity(),
  place,
})
