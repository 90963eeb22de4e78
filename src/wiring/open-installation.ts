import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { StreamQueue } from '../commands/core/stream-queue.ts'
import { openMasterKeys } from '../credentials/master-keys.ts'
import { BadFolder, type Installation, type Purpose } from './installation.ts'
import { openLog, type Log } from '../runtime/log.ts'
import { steadyClock } from '../runtime/steady-clock.ts'
import { BadSettings, type Settings } from './settings.ts'
import { openDirectoryFiles } from '../stores/folder/files.ts'
import type { MongoStores } from '../stores/mongodb/mongodb.ts'
import { openDocuments } from '../stores/sqlite/documents.ts'
import { shareFolder, type FolderLock } from '../stores/folder/lock.ts'
import { openOutbox } from '../stores/mail/outbox.ts'
import { openSeen } from '../stores/folder/seen.ts'
import { openSmtp } from '../stores/mail/smtp.ts'
import { openSqliteEvents, type SqliteEventsOptions } from '../stores/sqlite/events.ts'
import { UnreadableFile } from '../stores/sqlite/file.ts'
import { openSqliteVault } from '../stores/sqlite/vault.ts'
import type { Told } from '../stores/ports/told.ts'
import { makeDataDir } from './data-dir.ts'
import { withoutCredentials } from './store-addresses.ts'
import { checkFolder, mustExist } from './existing.ts'

/**
 * The composition root: the one place that knows which adapters there are.
 * @throws BadSettings, BadFolder, NoInstallation, BadMasterKey, or what a store says of its files
 */
export async function open(settings: Settings, purpose: Purpose = 'made'): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE, READ_MODEL } = settings
  checkFolder(settings, purpose)
  makeDataDir(DATA_DIR)
  const lock = [EVENT_STORE, READ_MODEL].includes('sqlite') ? shareFolder(DATA_DIR) : undefined
  try {
    const filling = purpose === 'filled'
    const installation = await openOn(settings, (joined, told) => openEvents(settings, { filling, joined, told }), lock)
    if (purpose === 'existing') await mustExist(installation)
    return installation
  } catch (error) {
    lock?.release()
    throw error instanceof UnreadableFile ? new BadFolder(error.message, { cause: error }) : error
  }
}

/**
 * The installation that the settings name, on the log that is given.
 * @param lock on its folder, given back when all is closed
 */
export async function openOn(
  settings: Settings,
  openLogOn: (joined: NonNullable<SqliteEventsOptions['joined']>, told: Told) => Events | Promise<Events>,
  lock?: FolderLock,
): Promise<Installation> {
  const { DATA_DIR } = settings
  const keys = openMasterKeys({
    dataDir: DATA_DIR,
    masterKey: settings.MASTER_KEY,
    masterKeyOld: settings.MASTER_KEY_OLD,
  })
  const log = openLog(settings.LOG_LEVEL)
  const { reads, vault, files, telling, ...readModels } = await openReadModels(settings, log)
  const told: Told = (found, sentence) => log.warn(found, sentence)
  const { store, counters } = await Promise.resolve()
    .then(() => openLogOn(telling, told))
    .catch(async (error: unknown) => {
      await readModels.close()
      throw error
    })
  const mail = settings.MAILER === 'outbox' ? openOutbox(join(DATA_DIR, 'outbox')) : openSmtp(settings.MAILER)
  const jumped = (milliseconds: number) =>
    log.warn({ milliseconds }, "the system's clock was set; it is believed when it stays so for 5 minutes")
  const clock = steadyClock({ jumped })
  const writing = { store, queue: new StreamQueue(), clock }
  return {
    settings,
    log,
    store,
    reads,
    vault,
    files,
    mail,
    place: placeOf(settings),
    seen: openSeen(join(DATA_DIR, 'seen.json')),
    keys,
    writing,
    counters,
    async close() {
      // One that fails to close must not leave the others open.
      const closings = [() => store.close(), () => readModels.close(), () => mail.close(), async () => lock?.release()]
      const faults: unknown[] = []
      for (const close of closings) await close().catch((error: unknown) => faults.push(error))
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** `telling`: resolves when the vault has let commands go on, which append then; undefined when it is about to let none. */
type ReadModels = MongoStores & { readonly telling: () => Promise<void> | undefined }

/** Read models, vault and files: in DATA_DIR, or in one database of MongoDB, whose driver takes 20 MB once it is loaded. */
async function openReadModels({ READ_MODEL, DATA_DIR }: Settings, log: Log): Promise<ReadModels> {
  if (READ_MODEL !== 'sqlite') {
    const { openMongo } = await import('../stores/mongodb/mongodb.ts')
    const { BadAddress } = await import('../stores/mongodb/connection.ts')
    try {
      return { ...openMongo(READ_MODEL, log), telling: () => undefined }
    } catch (error) {
      if (!(error instanceof BadAddress)) throw error
      const reason = READ_MODEL.includes('@') ? '' : `: ${error.message}`
      throw new BadSettings([`READ_MODEL is no address of MongoDB${reason}`])
    }
  }
  const reads = openDocuments(DATA_DIR, { told: (found, sentence) => log.warn(found, sentence) })
  const vault = openSqliteVault(join(DATA_DIR, 'vault.db'))
  const files = openDirectoryFiles(join(DATA_DIR, 'files'))
  return {
    reads,
    vault,
    files,
    telling: () => vault.telling(),
    async close() {
      await reads.close()
      await vault.close()
      await files.close()
    },
  }
}

const placeOf = ({ READ_MODEL, DATA_DIR }: Settings): string =>
  READ_MODEL === 'sqlite' ? `${resolve(DATA_DIR)} on ${hostname()}` : withoutCredentials(READ_MODEL)

export type Events = Pick<Installation, 'store' | 'counters'>

/** The client of EventStoreDB takes 25 MB, and is loaded only where it is needed. */
async function openEvents({ EVENT_STORE, DATA_DIR }: Settings, options: SqliteEventsOptions): Promise<Events> {
  if (EVENT_STORE !== 'sqlite') {
    const { openEventStoreDB } = await import('../stores/eventstoredb/eventstoredb.ts')
    try {
      return { store: openEventStoreDB(EVENT_STORE, undefined, options), counters: () => ({}) }
    } catch (error) {
      throw new BadSettings([`EVENT_STORE ${reasonOf(error)}`])
    }
  }
  const store = openSqliteEvents(join(DATA_DIR, 'events.db'), options)
  return { store, counters: () => store.stats() }
}

/** The client's message may repeat a part of the password, but for those on files. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('userKeyFile')) return 'has userCertFile or userKeyFile without the other one'
  return message.includes('certificate')
    ? 'names a file of certificates (tlsCaFile, userCertFile or userKeyFile) that is not there'
    : 'is no connection string of EventStoreDB, such as esdb://HOST:2113?tls=false'
}
