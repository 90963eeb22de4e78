import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { Registry } from 'prom-client'
import { AccountDirectory } from '../commands/accounts/account-directory.ts'
import { createCommandContext } from '../commands/core/command-context.ts'
import { CommandOutcomes } from '../commands/core/command-outcomes.ts'
import { openMasterKeys } from '../credentials/master-keys.ts'
import { SCRYPT_COST as PASSPHRASE_COST } from '../credentials/passphrase-kdf.ts'
import { BCRYPT_COST as PASSWORD_COST } from '../credentials/password-hasher.ts'
import { MAX_ENTRIES_SCANNED } from '../projections/diamonds/list-plan.ts'
import { READ_MODEL_WAIT_MS } from '../projections/engine/progress.ts'
import { PDF_READER_LIMITS } from '../reports/pdf-reader.ts'
import { createLogger, type WarningLogger } from '../runtime/logger.ts'
import { steadyClock } from '../runtime/steady-clock.ts'
import { lockFolderShared, type FolderLock } from '../stores/folder/lock.ts'
import { HIGH_WATER_MARK_FILE, openHighWaterMarkFile } from '../stores/folder/high-water-mark.ts'
import { LOG_STREAM } from '../domain/installation/read-only-state.ts'
import { InvalidConnectionString } from '../stores/ports/connection-string.ts'
import { LogClosed, StoreUnavailable, type EventStore } from '../stores/ports/event-store.ts'
import { UnreadableFile } from '../stores/sqlite/database-file.ts'
import {
  EVENT_STORES,
  MAILERS,
  READ_STORES,
  type EventStoreOpenOptions,
  type OpenedEventStore,
} from './store-engines.ts'
import { BadFolder, NoInstallation, type Installation, type InstallationPurpose } from './installation.ts'
import {
  hasEmbeddedStores,
  isLogFileMissing,
  logFileOf,
  requireNoKnownLog,
  requireNoLostLog,
  type StoresBesideLog,
} from './known-log.ts'
import { BadSettings, DATA_DIR as DEFAULT, type Settings } from './settings.ts'
import { engineOf, isStoredOnServer, withoutCredentials } from './store-addresses.ts'
import { StoreMetrics } from './store-metrics.ts'

/**
 * Creates a folder and its missing parents, for this user only, and checks that it is writable. Node's recursive mkdir
 * never ends below /proc, where it fails as if the parent were missing.
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
    // Another process created it first, or a dangling link is in the way.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Creates the installation's folder if it is missing. @throws BadFolder with a message of one line */
export function makeDataDir(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new BadFolder(`DATA_DIR must be a writable folder, got ${folder}: ${why}`)
  }
}

/** The subfolder of a restore under way: meanwhile the other files may be partly old and partly new. */
export const RESTORE_FOLDER = 'restoring'

/** The former default of DATA_DIR, which was inside a published folder. */
const FORMER_DATA_DIR = './data'

/**
 * Checks the folder before anything is created: a new, empty installation could be mistaken for the intended one.
 * @throws NoInstallation, BadSettings, StoreUnavailable after an unfinished restore
 */
export function checkFolder(settings: Settings, purpose: InstallationPurpose): void {
  const { DATA_DIR } = settings
  if (existsSync(join(DATA_DIR, RESTORE_FOLDER))) throw unfinishedRestoreError(DATA_DIR)
  const logFile = logFileOf(settings)
  if (logFile === undefined || !isLogFileMissing(settings)) return
  if (purpose !== 'filled' && DATA_DIR === DEFAULT && existsSync(join(FORMER_DATA_DIR, basename(logFile)))) {
    throw new BadSettings([
      `DATA_DIR is not set, and ${DEFAULT} has no installation, but ${FORMER_DATA_DIR}, the former default, has one: ` +
        `set DATA_DIR=${FORMER_DATA_DIR}, or move its files (not README.md and diamonds.csv.gz) to ${DEFAULT}`,
    ])
  }
  if (requiresLog(purpose) && !hasEmbeddedStores(logFile)) throw noInstallationError(DATA_DIR)
}

const requiresLog = (purpose: InstallationPurpose) => purpose === 'existing' || purpose === 'served read-only'

const noInstallationError = (folder: string) =>
  new NoInstallation(`no installation in ${resolve(folder)}: set DATA_DIR to its folder`)

/** The check for a log on a server, which its first event decides. @throws NoInstallation, StoreUnavailable */
export async function requireInstallation(installation: Installation, purpose: InstallationPurpose): Promise<void> {
  const { settings, store } = installation
  if (!isStoredOnServer(EVENT_STORES, settings.EVENT_STORE)) return
  const isEmpty = async () => (await store.readStream(LOG_STREAM, { last: 1 })).length === 0
  if (!(await isEmpty())) return
  await requireNoLostLog(installation, isEmpty)
  if (requiresLog(purpose))
    throw new NoInstallation(
      `no installation in the log that EVENT_STORE names: ${withoutCredentials(settings.EVENT_STORE)}`,
    )
}

const unfinishedRestoreError = (folder: string) =>
  new StoreUnavailable(
    `a restore into ${resolve(folder)} is under way, or was interrupted: run \`adamant restore FROM\` again, ` +
      'then start the service',
  )

/** The same installation, but read-only for this process. */
export function readOnly(installation: Installation): Installation {
  const store = withoutAppends(installation.store)
  return { ...installation, store, context: { ...installation.context, store } }
}

/** A closed state recorded in the log takes precedence, since it says more. */
function withoutAppends(store: EventStore): EventStore {
  const closed = async () => (await store.closedReason()) ?? ({ why: 'read-only' } as const)
  const refuse = async (): Promise<never> => {
    throw new LogClosed(await closed())
  }
  return { ...store, closedReason: closed, append: refuse, appendMany: refuse }
}

/**
 * The composition root: only this module knows the adapters.
 * @param timeoutFactor factor for the timeouts of servers: above 1 in tests
 * @throws BadSettings, BadFolder, NoInstallation, BadMasterKey, or an error of a store
 */
export async function openInstallation(
  settings: Settings,
  purpose: InstallationPurpose = 'made',
  timeoutFactor = 1,
): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE } = settings
  checkFolder(settings, purpose)
  makeDataDir(DATA_DIR)
  const lock = holdsStores(settings) ? lockFolderShared(DATA_DIR) : undefined
  const logFile = logFileOf(settings)
  const isNew = isLogFileMissing(settings)
  const beforeLog = async (stores: StoresBesideLog) => {
    if (logFile === undefined || !isNew) return
    await requireNoKnownLog(settings, logFile, stores)
    if (requiresLog(purpose)) throw noInstallationError(DATA_DIR)
  }
  try {
    const engineOptions = { folder: DATA_DIR, isCopyTarget: purpose === 'filled', timeoutFactor }
    const { open: openEvents } = engineOf(EVENT_STORES, EVENT_STORE)
    const installation = await openInstallationOn(
      settings,
      (logOptions) => openEvents(EVENT_STORE, { ...engineOptions, ...logOptions }),
      { timeoutFactor, lock, isInUse: !isNew, beforeLog },
    )
    // A service waits for its log, so it makes this check itself.
    if (purpose === 'made' || purpose === 'existing')
      await requireInstallation(installation, purpose).catch(async (error: unknown) => {
        await installation.close()
        throw error
      })
    return installation
  } catch (error) {
    lock?.release()
    throw error instanceof UnreadableFile ? new BadFolder(error.message, { cause: error }) : error
  }
}

const holdsStores = ({ EVENT_STORE, READ_MODEL }: Settings) =>
  !isStoredOnServer(EVENT_STORES, EVENT_STORE) || !isStoredOnServer(READ_STORES, READ_MODEL)

type OpenOptions = {
  /** The folder's lock, released when the installation is closed. */
  readonly lock?: FolderLock | undefined
  /** As in `openInstallation`. */
  readonly timeoutFactor?: number
  /** Whether something may have been encrypted with the master key: then a missing key file is not generated. */
  readonly isInUse?: boolean
  /** Called before the log is opened, which may create it. If it rejects, the other stores are closed. */
  readonly beforeLog?: (stores: StoresBesideLog) => Promise<void>
}

/** Opens the installation of the settings on a given log. */
export async function openInstallationOn(
  settings: Settings,
  openLogOn: (logOptions: Pick<EventStoreOpenOptions, 'warn'>) => Promise<OpenedEventStore>,
  { lock, timeoutFactor = 1, isInUse = false, beforeLog = async () => undefined }: OpenOptions = {},
): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE, READ_MODEL, MAILER, MASTER_KEY, MASTER_KEY_OLD } = settings
  const log = createLogger(settings.LOG_LEVEL)
  const engineOptions = { folder: DATA_DIR, log, timeoutFactor }
  const { reads, vault, persons, files, breakers, ...readModels } = await withSettingName('READ_MODEL', () =>
    engineOf(READ_STORES, READ_MODEL).open(READ_MODEL, engineOptions),
  )
  const highWaterMarks = openHighWaterMarkFile(join(DATA_DIR, HIGH_WATER_MARK_FILE))
  const logWarning: WarningLogger = (fields, message) => log.warn(fields, message)
  async function openKeysAndLog() {
    await beforeLog({ reads, vault, persons, files, highWaterMarks })
    const keys = openMasterKeys({ dataDir: DATA_DIR, masterKey: MASTER_KEY, masterKeyOld: MASTER_KEY_OLD, isInUse })
    return { keys, ...(await openLogOn({ warn: logWarning })) }
  }
  const { keys, ...opened } = await withSettingName('EVENT_STORE', openKeysAndLog).catch(async (error: unknown) => {
    await readModels.close()
    throw error
  })
  const metricsRegistry = new Registry()
  const storeMetrics = new StoreMetrics(metricsRegistry)
  const store = storeMetrics.instrument('log', engineOf(EVENT_STORES, EVENT_STORE).name, opened.store)
  const readEngine = engineOf(READ_STORES, READ_MODEL).name
  const mail = await engineOf(MAILERS, MAILER).open(MAILER, engineOptions)
  const onJump = (milliseconds: number) =>
    log.warn({ milliseconds }, "the system's clock was set; the change is accepted if it lasts for 5 minutes")
  const clock = steadyClock({ onJump })
  const context = { ...createCommandContext(store, clock.now), outcomes: new CommandOutcomes(metricsRegistry) }
  const people = new AccountDirectory(context, persons, keys)
  return {
    settings,
    log,
    store,
    reads: storeMetrics.instrument('read-models', readEngine, reads),
    vault: storeMetrics.instrument('vault', readEngine, vault),
    persons,
    files: storeMetrics.instrument('files', readEngine, files),
    mail,
    place: placeOf(settings),
    clock,
    highWaterMarks,
    keys,
    people,
    context: { ...context, people },
    readModelTimeoutMs: READ_MODEL_WAIT_MS,
    maxScannedDiamonds: MAX_ENTRIES_SCANNED,
    hashing: { passwords: PASSWORD_COST, passphrases: PASSPHRASE_COST },
    reportReaderLimits: PDF_READER_LIMITS,
    breakers,
    metricsRegistry,
    counters: opened.counters,
    async close() {
      // If one fails to close, the others are closed nevertheless.
      const closings = [() => store.close(), () => readModels.close(), () => mail.close(), async () => lock?.release()]
      const faults: unknown[] = []
      for (const close of closings) await close().catch((error: unknown) => faults.push(error))
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** @throws BadSettings instead of InvalidConnectionString */
async function withSettingName<Opened>(setting: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    throw error instanceof InvalidConnectionString ? new BadSettings([`${setting} ${error.message}`]) : error
  }
}

const placeOf = ({ READ_MODEL, DATA_DIR }: Settings): string =>
  isStoredOnServer(READ_STORES, READ_MODEL) ? withoutCredentials(READ_MODEL) : `${resolve(DATA_DIR)} on ${hostname()}`
