import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Registry } from 'prom-client'
import { AccountDirectory } from '../commands/accounts/account-directory.ts'
import { createCommandContext } from '../commands/core/handle.ts'
import { openMasterKeys } from '../credentials/master-keys.ts'
import { SCRYPT_COST as PASSPHRASE_COST } from '../credentials/passphrase-kdf.ts'
import { BCRYPT_COST as PASSWORD_COST } from '../credentials/password-hasher.ts'
import { MAX_ENTRIES_SCANNED } from '../projections/diamonds/list-plan.ts'
import { READ_MODEL_WAIT_MS } from '../projections/engine/progress.ts'
import { PDF_READER_LIMITS } from '../reports/pdf-reader.ts'
import { createLogger, type WarningLogger } from '../runtime/logger.ts'
import { steadyClock } from '../runtime/steady-clock.ts'
import { lockFolderShared, type FolderLock } from '../stores/folder/lock.ts'
import { openHighWaterMarkFile } from '../stores/folder/high-water-mark.ts'
import { InvalidConnectionString } from '../stores/ports/connection-string.ts'
import { LogClosed, StoreUnavailable, type EventStore } from '../stores/ports/event-store.ts'
import { UnreadableFile } from '../stores/sqlite/database-file.ts'
import {
  EVENT_STORES,
  MAILERS,
  READ_MODELS,
  type EventStoreOpenOptions,
  type OpenedEventStore,
} from './store-engines.ts'
import { BadFolder, NoInstallation, type Installation, type InstallationPurpose } from './installation.ts'
import { BadSettings, DATA_DIR as DEFAULT, type Settings } from './settings.ts'
import { engineOf, isStoredOnServer, withoutCredentials } from './store-addresses.ts'
import { StoreMetrics } from './store-metrics.ts'

/**
 * Makes a folder and those above it that are missing, for this user alone, and sees that it can be written to. Node's own
 * recursive way goes on for ever below /proc, where making a folder fails as if its parent were missing.
 * @throws the file system's error
 */
export function makeFolder(folder: string): void {
  make(resolve(folder))
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
}

function make(folder: string): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) make(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process was first, or a link that leads nowhere is in the way.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Makes the folder of an installation where there is none. @throws BadFolder with what is wrong in one line */
export function makeDataDir(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new BadFolder(`DATA_DIR must be a folder that can be written to, got ${folder}: ${why}`)
  }
}

/** In a folder, while a log is being put back into it: what else is there may be half of the one and half of the other. */
export const RESTORE_FOLDER = 'restoring'

/** Where DATA_DIR pointed before it was moved out of a folder that is shipped. */
const FORMER_DEFAULT = './data'

/**
 * Looks before anything is made: a new, empty installation beside the one that was meant would be taken for it.
 * @throws NoInstallation, BadSettings, StoreUnavailable where a restore has not ended
 */
export function checkFolder({ DATA_DIR, EVENT_STORE }: Settings, purpose: InstallationPurpose): void {
  if (existsSync(join(DATA_DIR, RESTORE_FOLDER))) throw unfinishedRestoreError(DATA_DIR)
  const { file } = engineOf(EVENT_STORES, EVENT_STORE)
  if (file === undefined || existsSync(join(DATA_DIR, file))) return
  if (purpose !== 'filled' && DATA_DIR === DEFAULT && existsSync(join(FORMER_DEFAULT, file))) {
    throw new BadSettings([
      `DATA_DIR is not set, and ${DEFAULT} has no installation, but ${FORMER_DEFAULT} has, which was the default before: ` +
        `set DATA_DIR=${FORMER_DEFAULT}, or move its files (not README.md and diamonds.csv.gz) to ${DEFAULT}`,
    ])
  }
  if (purpose === 'existing')
    throw new NoInstallation(`no installation in ${resolve(DATA_DIR)}: set DATA_DIR to its folder`)
}

/** For a log on a server, where only its first event tells. @throws NoInstallation or StoreUnavailable, all closed */
export async function requireInstallation(installation: Installation): Promise<void> {
  const { EVENT_STORE } = installation.settings
  try {
    if (!isStoredOnServer(EVENT_STORES, EVENT_STORE) || (await installation.store.read('log')).length > 0) return
    throw new NoInstallation(`no installation in the log that EVENT_STORE names: ${withoutCredentials(EVENT_STORE)}`)
  } catch (error) {
    await installation.close()
    throw error
  }
}

const unfinishedRestoreError = (folder: string) =>
  new StoreUnavailable(
    `a restore into ${resolve(folder)} is under way, or was interrupted: run \`npx adamant restore FROM\` again, and serve then`,
  )

/** The same installation, whose log takes no append of this process; whatever else writes to it goes on. */
export function readOnly(installation: Installation): Installation {
  const store = withoutAppends(installation.store)
  return { ...installation, store, writing: { ...installation.writing, store } }
}

/** What the log says of itself comes first: it says more. */
function withoutAppends(store: EventStore): EventStore {
  const closed = async () => (await store.closedReason()) ?? ({ why: 'read-only' } as const)
  const refuse = async (): Promise<never> => {
    throw new LogClosed(await closed())
  }
  return { ...store, closedReason: closed, append: refuse, appendMany: refuse }
}

/**
 * The composition root: the one place that knows which adapters there are.
 * @param slower how many times as long as in production a server may take to answer: tests run beside other work
 * @throws BadSettings, BadFolder, NoInstallation, BadMasterKey, or what a store says of its files
 */
export async function openInstallation(
  settings: Settings,
  purpose: InstallationPurpose = 'made',
  slower = 1,
): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE } = settings
  checkFolder(settings, purpose)
  makeDataDir(DATA_DIR)
  const lock = holdsStores(settings) ? lockFolderShared(DATA_DIR) : undefined
  try {
    const given = { folder: DATA_DIR, filling: purpose === 'filled', slower }
    const { open: openEvents } = engineOf(EVENT_STORES, EVENT_STORE)
    const installation = await openInstallationOn(
      settings,
      (beside) => openEvents(EVENT_STORE, { ...given, ...beside }),
      {
        slower,
        lock,
      },
    )
    if (purpose === 'existing') await requireInstallation(installation)
    return installation
  } catch (error) {
    lock?.release()
    throw error instanceof UnreadableFile ? new BadFolder(error.message, { cause: error }) : error
  }
}

const holdsStores = ({ EVENT_STORE, READ_MODEL }: Settings) =>
  !isStoredOnServer(EVENT_STORES, EVENT_STORE) || !isStoredOnServer(READ_MODELS, READ_MODEL)

/**
 * The installation that the settings name, on the log that is given.
 * @param beside lock: on its folder, given back when all is closed; slower: as in `open`
 */
export async function openInstallationOn(
  settings: Settings,
  openLogOn: (
    given: Pick<EventStoreOpenOptions, 'otherCommit' | 'told'>,
  ) => OpenedEventStore | Promise<OpenedEventStore>,
  { lock, slower = 1 }: { readonly lock?: FolderLock | undefined; readonly slower?: number } = {},
): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE, READ_MODEL, MAILER } = settings
  const keys = openMasterKeys({
    dataDir: DATA_DIR,
    masterKey: settings.MASTER_KEY,
    masterKeyOld: settings.MASTER_KEY_OLD,
  })
  const log = createLogger(settings.LOG_LEVEL)
  const given = { folder: DATA_DIR, log, slower }
  const { reads, vault, persons, files, breakers, commitUnderWay, ...readModels } = await withSettingName(
    'READ_MODEL',
    () => engineOf(READ_MODELS, READ_MODEL).open(READ_MODEL, given),
  )
  const told: WarningLogger = (found, sentence) => log.warn(found, sentence)
  const opened = await withSettingName('EVENT_STORE', () => openLogOn({ otherCommit: commitUnderWay, told })).catch(
    async (error: unknown) => {
      await readModels.close()
      throw error
    },
  )
  const counted = new Registry()
  const times = new StoreMetrics(counted)
  const store = times.instrument('log', engineOf(EVENT_STORES, EVENT_STORE).name, opened.store)
  const readEngine = engineOf(READ_MODELS, READ_MODEL).name
  const mail = await engineOf(MAILERS, MAILER).open(MAILER, given)
  const jumped = (milliseconds: number) =>
    log.warn({ milliseconds }, "the system's clock was set; it is believed when it stays so for 5 minutes")
  const clock = steadyClock({ onJump: jumped })
  const plain = createCommandContext(store, clock)
  const people = new AccountDirectory(plain, persons, keys)
  const writing = { ...plain, people }
  return {
    settings,
    log,
    store,
    reads: times.instrument('read-models', readEngine, reads),
    vault: times.instrument('vault', readEngine, vault),
    persons,
    files: times.instrument('files', readEngine, files),
    mail,
    place: placeOf(settings),
    seen: openHighWaterMarkFile(join(DATA_DIR, 'seen.json')),
    keys,
    people,
    writing,
    readModelTimeoutMs: READ_MODEL_WAIT_MS,
    maxScannedDiamonds: MAX_ENTRIES_SCANNED,
    hashing: { passwords: PASSWORD_COST, passphrases: PASSPHRASE_COST },
    reportReaderLimits: PDF_READER_LIMITS,
    breakers,
    metricsRegistry: counted,
    counters: opened.counters,
    async close() {
      // One that fails to close must not leave the others open.
      const closings = [() => store.close(), () => readModels.close(), () => mail.close(), async () => lock?.release()]
      const faults: unknown[] = []
      for (const close of closings) await close().catch((error: unknown) => faults.push(error))
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** @throws BadSettings in place of BadAddress */
async function withSettingName<Opened>(setting: string, open: () => Opened | Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    throw error instanceof InvalidConnectionString ? new BadSettings([`${setting} ${error.message}`]) : error
  }
}

const placeOf = ({ READ_MODEL, DATA_DIR }: Settings): string =>
  isStoredOnServer(READ_MODELS, READ_MODEL) ? withoutCredentials(READ_MODEL) : `${resolve(DATA_DIR)} on ${hostname()}`
