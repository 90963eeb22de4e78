import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Registry } from 'prom-client'
import { People } from '../commands/accounts/people.ts'
import { writingTo } from '../commands/core/handle.ts'
import { openMasterKeys } from '../credentials/master-keys.ts'
import { COST as PASSPHRASE_COST } from '../credentials/passphrases.ts'
import { COST as PASSWORD_COST } from '../credentials/passwords.ts'
import { LOOKED_THROUGH } from '../projections/diamonds/list-plan.ts'
import { PATIENCE } from '../projections/engine/progress.ts'
import { BOUNDS } from '../reports/pdf-reader.ts'
import { openLog, type Told } from '../runtime/log.ts'
import { steadyClock } from '../runtime/steady-clock.ts'
import { shareFolder, type FolderLock } from '../stores/folder/lock.ts'
import { openSeen } from '../stores/folder/seen.ts'
import { BadAddress } from '../stores/ports/address.ts'
import { LogClosed, StoreUnavailable, type EventStore } from '../stores/ports/event-store.ts'
import { UnreadableFile } from '../stores/sqlite/file.ts'
import { EVENT_STORES, MAILERS, READ_MODELS, type EventStoreGiven, type OpenedEventStore } from './engines.ts'
import { BadFolder, NoInstallation, type Installation, type Purpose } from './installation.ts'
import { BadSettings, DATA_DIR as DEFAULT, type Settings } from './settings.ts'
import { engineOf, liesOnServer, withoutCredentials } from './store-addresses.ts'
import { StoreTimes } from './store-times.ts'

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
export const RESTORING = 'restoring'

/** Where DATA_DIR pointed before it was moved out of a folder that is shipped. */
const FORMER_DEFAULT = './data'

/**
 * Looks before anything is made: a new, empty installation beside the one that was meant would be taken for it.
 * @throws NoInstallation, BadSettings, StoreUnavailable where a restore has not ended
 */
export function checkFolder({ DATA_DIR, EVENT_STORE }: Settings, purpose: Purpose): void {
  if (existsSync(join(DATA_DIR, RESTORING))) throw unfinished(DATA_DIR)
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
export async function mustExist(installation: Installation): Promise<void> {
  const { EVENT_STORE } = installation.settings
  try {
    if (!liesOnServer(EVENT_STORES, EVENT_STORE) || (await installation.store.read('log')).length > 0) return
    throw new NoInstallation(`no installation in the log that EVENT_STORE names: ${withoutCredentials(EVENT_STORE)}`)
  } catch (error) {
    await installation.close()
    throw error
  }
}

const unfinished = (folder: string) =>
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
  const closed = async () => (await store.closed()) ?? ({ why: 'read-only' } as const)
  const refuse = async (): Promise<never> => {
    throw new LogClosed(await closed())
  }
  return { ...store, closed, append: refuse, appendMany: refuse }
}

/**
 * The composition root: the one place that knows which adapters there are.
 * @param slower how many times as long as in production a server may take to answer: tests run beside other work
 * @throws BadSettings, BadFolder, NoInstallation, BadMasterKey, or what a store says of its files
 */
export async function open(settings: Settings, purpose: Purpose = 'made', slower = 1): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE } = settings
  checkFolder(settings, purpose)
  makeDataDir(DATA_DIR)
  const lock = holdsStores(settings) ? shareFolder(DATA_DIR) : undefined
  try {
    const given = { folder: DATA_DIR, filling: purpose === 'filled', slower }
    const { open: openEvents } = engineOf(EVENT_STORES, EVENT_STORE)
    const installation = await openOn(settings, (beside) => openEvents(EVENT_STORE, { ...given, ...beside }), {
      slower,
      lock,
    })
    if (purpose === 'existing') await mustExist(installation)
    return installation
  } catch (error) {
    lock?.release()
    throw error instanceof UnreadableFile ? new BadFolder(error.message, { cause: error }) : error
  }
}

const holdsStores = ({ EVENT_STORE, READ_MODEL }: Settings) =>
  !liesOnServer(EVENT_STORES, EVENT_STORE) || !liesOnServer(READ_MODELS, READ_MODEL)

/**
 * The installation that the settings name, on the log that is given.
 * @param beside lock: on its folder, given back when all is closed; slower: as in `open`
 */
export async function openOn(
  settings: Settings,
  openLogOn: (given: Pick<EventStoreGiven, 'otherCommit' | 'told'>) => OpenedEventStore | Promise<OpenedEventStore>,
  { lock, slower = 1 }: { readonly lock?: FolderLock | undefined; readonly slower?: number } = {},
): Promise<Installation> {
  const { DATA_DIR, EVENT_STORE, READ_MODEL, MAILER } = settings
  const keys = openMasterKeys({
    dataDir: DATA_DIR,
    masterKey: settings.MASTER_KEY,
    masterKeyOld: settings.MASTER_KEY_OLD,
  })
  const log = openLog(settings.LOG_LEVEL)
  const given = { folder: DATA_DIR, log, slower }
  const { reads, vault, persons, files, breakers, commitUnderWay, ...readModels } = await addressed('READ_MODEL', () =>
    engineOf(READ_MODELS, READ_MODEL).open(READ_MODEL, given),
  )
  const told: Told = (found, sentence) => log.warn(found, sentence)
  const opened = await addressed('EVENT_STORE', () => openLogOn({ otherCommit: commitUnderWay, told })).catch(
    async (error: unknown) => {
      await readModels.close()
      throw error
    },
  )
  const counted = new Registry()
  const times = new StoreTimes(counted)
  const store = times.of('log', engineOf(EVENT_STORES, EVENT_STORE).name, opened.store)
  const readEngine = engineOf(READ_MODELS, READ_MODEL).name
  const mail = await engineOf(MAILERS, MAILER).open(MAILER, given)
  const jumped = (milliseconds: number) =>
    log.warn({ milliseconds }, "the system's clock was set; it is believed when it stays so for 5 minutes")
  const clock = steadyClock({ jumped })
  const plain = writingTo(store, clock)
  const people = new People(plain, persons, keys)
  const writing = { ...plain, people }
  return {
    settings,
    log,
    store,
    reads: times.of('read-models', readEngine, reads),
    vault: times.of('vault', readEngine, vault),
    persons,
    files: times.of('files', readEngine, files),
    mail,
    place: placeOf(settings),
    seen: openSeen(join(DATA_DIR, 'seen.json')),
    keys,
    people,
    writing,
    patience: PATIENCE,
    lookedThrough: LOOKED_THROUGH,
    hashing: { passwords: PASSWORD_COST, passphrases: PASSPHRASE_COST },
    reading: BOUNDS,
    breakers,
    counted,
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
async function addressed<Opened>(setting: string, open: () => Opened | Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    throw error instanceof BadAddress ? new BadSettings([`${setting} ${error.message}`]) : error
  }
}

const placeOf = ({ READ_MODEL, DATA_DIR }: Settings): string =>
  liesOnServer(READ_MODELS, READ_MODEL) ? withoutCredentials(READ_MODEL) : `${resolve(DATA_DIR)} on ${hostname()}`
