import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { verifyJoinedStores } from '../commands/installation/join-stores.ts'
import {
  findObserverOfOtherLog,
  readLogObservations,
  requireLogNotRolledBack,
  type LogObservation,
} from '../projections/engine/log-rollback.ts'
import { HIGH_WATER_MARK_FILE } from '../stores/folder/high-water-mark.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import { INDEX_FILE } from '../stores/sqlite/documents/build-pointers.ts'
import { hasContent, isMissingOrEmptyLog } from '../stores/sqlite/events/connection.ts'
import { storeIdentitiesOf, type Installation } from './installation.ts'
import type { Settings } from './settings.ts'
import { engineOf, isStoredOnServer, withoutCredentials } from './store-addresses.ts'
import { EVENT_STORES, FILES_FOLDER, READ_STORES, VAULT_FILE } from './store-engines.ts'

const ORIGIN = { actor: 'service', via: 'projection', correlation: 'stores' } as const

/** The stores of an installation that outlive a lost log. */
export type StoresBesideLog = Pick<Installation, 'reads' | 'vault' | 'persons' | 'files' | 'highWaterMarks'>

/** The path of the embedded log; undefined if the log is on a server. */
export function logFileOf({ DATA_DIR, EVENT_STORE }: Settings): string | undefined {
  const { file } = engineOf(EVENT_STORES, EVENT_STORE)
  return file === undefined ? undefined : join(resolve(DATA_DIR), file)
}

/** Whether opening the installation would create an embedded log. */
export function isLogFileMissing(settings: Settings): boolean {
  const logFile = logFileOf(settings)
  return logFile !== undefined && isMissingOrEmptyLog(logFile)
}

/** What is left of an embedded log: its write-ahead log, or logs that a restore or an upgrade has kept. */
function remainsOf(logFile: string): string[] {
  const folder = dirname(logFile)
  const [wal, kept] = [`${basename(logFile)}-wal`, `${basename(logFile)}.`]
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => name.startsWith(kept) || (name === wal && hasContent(join(folder, name))))
}

/** Stores in DATA_DIR that opening an installation would create. */
const EMBEDDED_STORES = [HIGH_WATER_MARK_FILE, VAULT_FILE, INDEX_FILE, FILES_FOLDER]

/** Whether the folder of a missing log may have known one: something of an installation is in it. */
export const hasEmbeddedStores = (logFile: string): boolean =>
  EMBEDDED_STORES.some((name) => existsSync(join(dirname(logFile), name))) || remainsOf(logFile).length > 0

type LogObservers = Pick<Installation, 'reads' | 'vault' | 'highWaterMarks'>

function observationOfFolder({ highWaterMarks }: LogObservers): LogObservation[] {
  const seen = highWaterMarks.read()
  return seen === undefined ? [] : [{ observer: 'this folder', ...seen }]
}

/** What the folder, the consumers and the vault have seen of logs. @throws StoreUnavailable */
export async function readAllObservations(observers: LogObservers): Promise<LogObservation[]> {
  // Loaded on demand: commands that open an existing log don't need the read models.
  const { CHECKPOINTED_MODELS } = await import('./consumers.ts')
  const others = await readLogObservations(observers.reads, CHECKPOINTED_MODELS, observers.vault)
  return [...observationOfFolder(observers), ...others]
}

/** What only a service with a log can have written, for people. A master key may have been provided in advance. */
async function findTraces({ vault, persons, files, ...observers }: StoresBesideLog): Promise<string[]> {
  const traces: readonly (readonly [string, boolean])[] = [
    ['checkpoints of a log', (await readAllObservations({ vault, ...observers })).length > 0],
    ['secrets', await hasAny(vault.contents())],
    ["accounts' addresses", await hasAny(persons.all())],
    ['files', await hasAny(files.list())],
  ]
  return traces.flatMap(([name, isFound]) => (isFound ? [name] : []))
}

async function hasAny(items: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of items) return true
  return false
}

/**
 * Before a missing log file is created: checks that the other stores have not known a log.
 * @throws StoreUnavailable if they have, or are unavailable
 */
export async function requireNoKnownLog(settings: Settings, logFile: string, stores: StoresBesideLog): Promise<void> {
  const traces = [...remainsOf(logFile), ...(await findTraces(stores))]
  // Another process that starts at the same time may have created the log meanwhile.
  if (traces.length === 0 || !isMissingOrEmptyLog(logFile)) return
  const name = basename(logFile)
  throw lostLogError(settings, traces, {
    fault: `There is no event log in ${dirname(logFile)}: ${name} is ${existsSync(logFile) ? 'empty' : 'missing'}`,
    remedy: `put ${name} back, with ${name}-wal if you have it, or run \`adamant restore FROM --replace\``,
  })
}

/**
 * Before anything is appended to an empty log on a server: checks that the other stores have not known a log.
 * @throws StoreUnavailable if they have, or are unavailable
 */
export async function requireNoLostLog(
  { settings, ...stores }: StoresBesideLog & Pick<Installation, 'settings'>,
  isEmpty: () => Promise<boolean>,
): Promise<void> {
  const traces = await findTraces(stores)
  // As above.
  if (traces.length === 0 || !(await isEmpty())) return
  throw lostLogError(settings, traces, {
    fault: `The event log that EVENT_STORE names, ${withoutCredentials(settings.EVENT_STORE)}, is empty`,
    remedy:
      "set EVENT_STORE to this installation's log, or restore the server's backup and run `adamant restore FROM --in-place`",
  })
}

/** By a new log, the stores' files, secrets and personal data would be unreferenced, and be deleted. */
function lostLogError(
  { READ_MODEL }: Settings,
  traces: readonly string[],
  { fault, remedy }: { readonly fault: string; readonly remedy: string },
): StoreUnavailable {
  const database = isStoredOnServer(READ_STORES, READ_MODEL) ? ' and another database in READ_MODEL' : ''
  return new StoreUnavailable(
    `${fault}, but this installation has had one: found ${traces.join(', ')}. Nothing was changed. To continue it, ` +
      `${remedy}. For a new installation, use an empty DATA_DIR${database}`,
  )
}

/**
 * Checks that the log contains the newest event that each other store has processed, and that the vault and the files
 * belong to it.
 * @param mayRecord whether a log that was never used with a vault and files gets these
 * @returns `vault lost` if the vault is new and the files are the log's own
 * @throws LogRolledBack, ForeignStores, StoreUnavailable
 */
export async function verifyOwnLog(
  installation: Installation,
  { mayRecord }: { readonly mayRecord: boolean },
): Promise<'unchanged' | 'vault lost'> {
  const { store, context } = installation
  // First, because the read store may be unavailable.
  await requireLogNotRolledBack(store, observationOfFolder(installation))
  const observations = await readAllObservations(installation)
  await requireLogNotRolledBack(store, observations)
  const otherLog = findObserverOfOtherLog(observations, await store.identity())
  const identities = await storeIdentitiesOf(installation)
  return verifyJoinedStores({ ...context, origin: ORIGIN }, identities, { otherLog, mayRecord })
}
