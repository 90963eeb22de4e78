import { join } from 'node:path'
import type { CircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { AppLogger, WarningLogger } from '../runtime/logger.ts'
import { CONNECTION_STRING_PARAMETERS as EVENTSTOREDB } from '../stores/eventstoredb/connection-string.ts'
import { openDirectoryFileStore } from '../stores/folder/files.ts'
import { openOutbox } from '../stores/mail/outbox.ts'
import {
  CONNECTION_STRING_PATTERN as MONGODB_FORM,
  CONNECTION_STRING_PARAMETERS as MONGODB,
} from '../stores/mongodb/connection-string.ts'
import type { ConnectionStringParameters } from '../stores/ports/connection-string.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import type { FileStore } from '../stores/ports/file-store.ts'
import type { MailTransport } from '../stores/ports/mail.ts'
import type { PersonStore } from '../stores/ports/person-store.ts'
import type { ReadStore } from '../stores/ports/read-store.ts'
import type { Vault } from '../stores/ports/vault.ts'
import { scaleTimeouts } from '../stores/eventstoredb/timing.ts'
import { openSqliteReadStore } from '../stores/sqlite/documents.ts'
import { openSqliteEventStore } from '../stores/sqlite/events.ts'
import { openSqliteVault } from '../stores/sqlite/vault.ts'

/**
 * The store engines by the scheme of their addresses. Settings, opening, moves, backups and descriptions all use this
 * table: a new engine needs its adapter and an entry here.
 */
export type StoreEngine<Opened, Given> = {
  /** Display name; error messages of the engine begin with it. */
  readonly name: string
  /** An engine in DATA_DIR is addressed by its scheme alone, or by `SCHEME:DIR` when an installation is moved. */
  readonly location: 'in DATA_DIR' | 'on a server'
  readonly isAddress: (text: string) => boolean
  /** Form of an address, for messages; undefined if another entry covers it. */
  readonly example?: string
  /** Further parts of an address. */
  readonly note?: string
  readonly parameters?: ConnectionStringParameters
  /** Logged at the start of a service that uses it. */
  readonly warning?: string
  /**
   * Loads large modules lazily, such as a client of 25 MB.
   * @throws InvalidConnectionString
   */
  readonly open: (address: string, given: Given) => Promise<Opened>
}

/** `timeoutFactor`: factor for a server's timeouts. */
type ServerOptions = { readonly timeoutFactor: number }
type StoreFolder = { readonly folder: string }

export type EventStoreOpenOptions = StoreFolder &
  ServerOptions & {
    /** The log is empty and another one is copied into it; it accepts appends before it is complete. */
    readonly isCopyTarget: boolean
    readonly warn: WarningLogger
  }

export type OpenedEventStore = { readonly store: EventStore; counters(): Readonly<Record<string, number>> }

type EventStoreEngine = StoreEngine<OpenedEventStore, EventStoreOpenOptions> & {
  /** The log's file in DATA_DIR; undefined for a server. */
  readonly file?: string
}

type ReadModelOpenOptions = StoreFolder & ServerOptions & { readonly log: AppLogger }

/** Read models, vault, persons and files: one address selects all of them. */
type OpenedReadStores = {
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: PersonStore
  readonly files: FileStore
  readonly breakers: readonly CircuitBreaker[]
  close(): Promise<void>
}

/** The embedded log's file, in DATA_DIR and in a backup. */
export const LOG_FILE = 'events.db'
/** The embedded vault's file in DATA_DIR. */
export const VAULT_FILE = 'vault.db'
/** The folder of certificates' and models' files, in DATA_DIR and in a backup. */
export const FILES_FOLDER = 'files'
const equals = (word: string) => (text: string) => text === word
const isUrl = (scheme: string) => (text: string) => text.startsWith(`${scheme}://`) && URL.canParse(text)

const eventStoreDB: EventStoreEngine = {
  name: 'EventStoreDB',
  location: 'on a server',
  // A list of hosts is not a valid URL.
  isAddress: (text) => /^esdb(\+discover)?:\/\/[^\s/?]+/.test(text),
  parameters: EVENTSTOREDB,
  async open(address, given) {
    const { openEventStoreDB } = await import('../stores/eventstoredb/eventstoredb.ts')
    return { store: openEventStoreDB(address, scaleTimeouts(given.timeoutFactor), given), counters: () => ({}) }
  },
}

export const EVENT_STORES: Readonly<Record<string, EventStoreEngine>> = {
  sqlite: {
    name: 'SQLite',
    location: 'in DATA_DIR',
    isAddress: equals('sqlite'),
    example: 'sqlite',
    file: LOG_FILE,
    async open(_address, { folder, ...given }) {
      const store = openSqliteEventStore(join(folder, LOG_FILE), given)
      return { store, counters: () => store.stats() }
    },
  },
  esdb: { ...eventStoreDB, example: 'esdb://HOST:PORT' },
  'esdb+discover': {
    ...eventStoreDB,
    example: 'esdb+discover://HOST:PORT',
    note: 'with USER:PASSWORD@ and ?tls=false as needed',
  },
}

const mongoDB: StoreEngine<OpenedReadStores, ReadModelOpenOptions> = {
  name: 'MongoDB',
  location: 'on a server',
  isAddress: (text) => MONGODB_FORM.test(text),
  parameters: MONGODB,
  async open(address, { timeoutFactor }) {
    const { openMongo } = await import('../stores/mongodb/mongodb.ts')
    return openMongo(address, timeoutFactor)
  },
}

export const READ_STORES: Readonly<Record<string, StoreEngine<OpenedReadStores, ReadModelOpenOptions>>> = {
  sqlite: {
    name: 'SQLite',
    location: 'in DATA_DIR',
    isAddress: equals('sqlite'),
    example: 'sqlite',
    async open(_address, { folder, log }) {
      // First, because an open read store watches its files until it is closed.
      const warn: WarningLogger = (fields, message) => log.warn(fields, message)
      const vault = openSqliteVault(join(folder, VAULT_FILE), { warn })
      const reads = openSqliteReadStore(folder, { warn })
      const files = openDirectoryFileStore(join(folder, FILES_FOLDER))
      const close = async () => {
        await reads.close()
        await vault.close()
        await files.close()
      }
      return { reads, vault, persons: vault.persons, files, breakers: [], close }
    },
  },
  mongodb: { ...mongoDB, example: 'mongodb://HOST:PORT/DATABASE', note: 'with the name of the database' },
  'mongodb+srv': mongoDB,
}

const OUTBOX_WARNING =
  'MAILER=outbox sends no mail: it stores links to secrets in plain text in DATA_DIR/outbox until the secrets end. ' +
  'Outside development, set MAILER=smtp://...'

const smtp: Omit<StoreEngine<MailTransport, StoreFolder>, 'isAddress'> = {
  name: 'SMTP',
  location: 'on a server',
  open: async (address) => (await import('../stores/mail/smtp.ts')).openSmtp(address),
}

export const MAILERS: Readonly<Record<string, StoreEngine<MailTransport, StoreFolder>>> = {
  outbox: {
    name: 'outbox',
    location: 'in DATA_DIR',
    isAddress: equals('outbox'),
    example: 'outbox',
    warning: OUTBOX_WARNING,
    open: async (_address, { folder }) => openOutbox(join(folder, 'outbox')),
  },
  smtp: { ...smtp, isAddress: isUrl('smtp'), example: 'smtp://USER:PASSWORD@HOST:PORT' },
  smtps: { ...smtp, isAddress: isUrl('smtps') },
}
