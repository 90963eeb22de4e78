import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkPersonKey } from '../../commands/accounts/account-directory.ts'
import { joinStores } from '../../commands/installation/join-stores.ts'
import { checkLinkKey } from '../../commands/installation/link-key.ts'
import { fenceLog } from '../../commands/installation/move-log.ts'
import { beginEpoch } from '../../commands/installation/restore-log.ts'
import { LOG_STREAM } from '../../domain/installation/log-lifecycle.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { highestObservedEpoch, readLogObservations } from '../../projections/engine/log-rollback.ts'
import { formatPosition, type EventStore } from '../../stores/ports/event-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'
import { openFilesIn, prepareLogReplacement, type ReplacedLog } from '../../wiring/backups.ts'
import { EVENT_STORES, LOG_FILE } from '../../wiring/store-engines.ts'
import { CHECKPOINTED_MODELS, READ_MODELS } from '../../wiring/followers.ts'
import {
  storeIdentitiesOf,
  NoInstallation,
  type Installation,
  type InstallationPurpose,
} from '../../wiring/installation.ts'
import { BadSettings, type Settings } from '../../wiring/settings.ts'
import { isStoredOnServer } from '../../wiring/store-addresses.ts'
import { copyFiles, faultIn } from '../copy/files.ts'
import { copyPersons, findOrphanedPersons } from '../copy/installation.ts'
import { BadUsage, countItems, OperationFailure, runStep, type Operation } from '../operation.ts'
import { FILES_FOLDER, personsIn, readManifest, verifyBackup, type Manifest } from './manifest.ts'

/** How a log on a server comes back. */
export const SERVER_RESTORE = `With EVENT_STORE on a server: stop every process of Adamant, put the server's own backup back as its documentation says,
start it, and run \`npx adamant restore FROM --in-place\`: it puts FROM's files back and begins a new epoch of the log.
Leave FROM out where the files came back otherwise, such as by mongorestore of fs.files and fs.chunks.`

/** What is to be restored, and over what. */
export type RestoreOptions = {
  readonly settings: Settings
  /** The backup's folder; undefined where everything is in its place already. */
  readonly from: string | undefined
  /** Whether what DATA_DIR holds may be replaced. */
  readonly mayReplace: boolean
  /** Whether the log is in its place already. */
  readonly inPlace: boolean
}

/** A backup whose digests were all verified. */
type VerifiedBackup = { readonly folder: string; readonly manifest: Manifest; readonly files: FileStore }

/** What is restored. Without `log` that is in its place already, without `backup` all is. */
export type RestorePlan = RestoreOptions & {
  readonly log: string | undefined
  readonly backup: VerifiedBackup | undefined
}

/**
 * Looks at all that can be looked at while nothing is open, and verifies the whole backup.
 * @throws BadUsage, BadSettings, NoInstallation, Failed
 */
export async function checkRestore(operation: Operation, options: RestoreOptions): Promise<RestorePlan> {
  const { settings, from, mayReplace, inPlace } = options
  const { DATA_DIR, EVENT_STORE } = settings
  const isOnServer = isStoredOnServer(EVENT_STORES, EVENT_STORE)
  if (isOnServer && !inPlace) throw new BadUsage(`The log is on a server. ${SERVER_RESTORE}`)
  if (from === undefined && !inPlace) throw new BadUsage('Name the backup: npx adamant restore FROM')
  if (inPlace && !isOnServer && !existsSync(join(DATA_DIR, LOG_FILE))) {
    throw new NoInstallation(`no log in ${resolve(DATA_DIR)}: --in-place begins a new epoch of one that is there`)
  }
  const manifest = from === undefined ? undefined : readManifest(from)
  if (!isOnServer) checkFolder(DATA_DIR, mayReplace || inPlace)
  checkMasterKey(settings)
  if (from === undefined || manifest === undefined) return { ...options, log: undefined, backup: undefined }
  if (!inPlace && manifest.log.file === null) {
    throw new BadUsage(`${from} holds files only, its log was on a server: set EVENT_STORE to that`)
  }
  const files = openFilesIn(join(from, FILES_FOLDER))
  await verifyBackup(operation, from, manifest, files)
  return { ...options, log: inPlace ? undefined : join(from, LOG_FILE), backup: { folder: from, manifest, files } }
}

/** What may be in a folder that nothing is lost of: the key is to be there before. */
const ALLOWED_FILES: ReadonlySet<string> = new Set(['master.key', 'installation.lock'])
/** What an interrupted restore leaves. The flag was given with it. */
const RESTORE_MARKER = 'restoring'

/** @throws BadUsage where the folder holds something and nobody has said that it may go */
function checkFolder(folder: string, mayReplace: boolean): void {
  const found = existsSync(folder) ? readdirSync(folder) : []
  if (mayReplace || found.includes(RESTORE_MARKER) || found.every((name) => ALLOWED_FILES.has(name))) return
  throw new BadUsage(
    `DATA_DIR ${resolve(folder)} is not empty. With --replace the backup's log takes the place of the one that is there; ` +
      'else set DATA_DIR to a new folder',
  )
}

/** A key that is made now opens nothing of the backup. @throws BadSettings */
function checkMasterKey({ MASTER_KEY, DATA_DIR }: Settings): void {
  const file = join(resolve(DATA_DIR), 'master.key')
  if (MASTER_KEY !== undefined || existsSync(file)) return
  throw new BadSettings([
    `MASTER_KEY must be the key of the installation that is restored, or lie in ${file}: no backup has it`,
  ])
}

/** What a restore has brought back, and where the log and its epoch stand now. */
export type RestoreResult = {
  readonly events: number
  readonly files: number
  readonly bytes: number
  readonly position: string
  readonly epoch: number
}

/** An installation whose log is the one that is restored, and what an embedded one still has to do with its file. */
type RestoreTarget = {
  readonly installation: Installation
  /** What the log said that is replaced; undefined where none is, or it can't be read. */
  readonly replacedLog: ReplacedLog | undefined
  readonly events: () => Promise<number>
  readonly replace: (kept: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The composition root's way to open an installation. */
type RestoreTargetOpener = (settings: Settings, purpose: InstallationPurpose) => Promise<Installation>

/**
 * Everything but the log is put where it belongs beside the one that is there, which changes nothing; then an embedded log, in
 * one step, its new epoch begun already. What dies before that leaves the old one, and what dies after it the new one. A log on a server
 * is back by the server's own way before: LogRestored, written last, is what lets it be served.
 * @throws Failed
 */
export async function restore(
  operation: Operation,
  open: RestoreTargetOpener,
  checked: RestorePlan,
  origin: Origin,
): Promise<RestoreResult> {
  const { settings, backup } = checked
  const isOnServer = isStoredOnServer(EVENT_STORES, settings.EVENT_STORE)
  const opened = await (isOnServer ? openServer(open, checked) : openFolder(operation, checked))
  const { installation, replacedLog, replace, close } = opened
  try {
    const { store, keys, vault, persons, seen } = installation
    const restoring = { store, origin, clock: Date.now }
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
    const files = await restoreFiles(operation, backup, installation.files)
    const known = Math.max(replacedLog?.epoch ?? 0, backup?.manifest.log.epoch ?? 0, await seenEpochOf(installation))
    const epoch = await beginEpoch(restoring, known)
    const fence = replacedLog?.fence ?? seen.read()?.fence
    if (fence) await renewFence(operation, restoring, fence)
    await joinStores(restoring, await storeIdentitiesOf(installation))
    const head = await store.head()
    const events = backup?.manifest.log.events ?? (await opened.events())
    // Putting back whom the restored log knows changes nothing for one that is still to be replaced.
    if (backup !== undefined) await copyPersons(personsIn(backup.folder, backup.manifest), installation)
    const strangers = await findOrphanedPersons(installation)
    await replace(`before-${epoch}`)
    await persons.forget(strangers)
    await emptyVault(vault)
    return { ...files, events, position: head === 'start' ? '0' : formatPosition(head), epoch }
  } finally {
    await close()
  }
}

async function openServer(open: RestoreTargetOpener, { settings, backup }: RestorePlan): Promise<RestoreTarget> {
  const installation = await open(settings, 'filled')
  try {
    if ((await installation.store.read(LOG_STREAM)).length === 0)
      throw new OperationFailure("The server's log is empty: put its backup back first")
    await requireNoRunningProcess(installation)
    if (backup !== undefined) await checkLog(installation.store, backup.manifest)
  } catch (error) {
    await installation.close()
    throw error
  }
  return {
    installation,
    replacedLog: undefined,
    events: () => countItems(installation.store.readAll('start')),
    replace: () => Promise.resolve(),
    close: () => installation.close(),
  }
}

async function openFolder({ report }: Operation, { settings, log }: RestorePlan): Promise<RestoreTarget> {
  const { installation, previousLog, replace, close } = await prepareLogReplacement(settings, log)
  try {
    if (
      previousLog !== 'none' &&
      !('unreadable' in previousLog) &&
      previousLog.identity !== (await installation.store.identity())
    ) {
      throw new OperationFailure(
        'DATA_DIR holds another installation than the one that the backup was taken of: set DATA_DIR to a new folder, or to its own',
      )
    }
  } catch (error) {
    await close()
    throw error
  }
  const opened = { installation, events: () => countEmbeddedEvents(installation.store), replace, close }
  if (previousLog === 'none') return { ...opened, replacedLog: undefined }
  if (!('unreadable' in previousLog)) return { ...opened, replacedLog: previousLog }
  const unknown = 'the log that is replaced can not be read, so what it has seen since the backup is not known'
  report.note(`${unknown}: ${previousLog.unreadable}`)
  return { ...opened, replacedLog: undefined }
}

/** Its positions are the numbers of its events, whatever can be read of them. */
async function countEmbeddedEvents(store: EventStore): Promise<number> {
  const head = await store.head()
  return head === 'start' ? 0 : Number(head.commit)
}

/** A process that only answers is not seen here: it ends by itself when it meets LogRestored. @throws Failed */
async function requireNoRunningProcess({ reads }: Installation): Promise<void> {
  for (const { declaration } of READ_MODELS) {
    if (await reads.isLeaseHeld(declaration))
      throw new OperationFailure('A process of this installation runs: stop all of them first')
  }
}

/** @throws Failed where the server has another log, or one that is older than the files */
async function checkLog(store: EventStore, { log }: Manifest): Promise<void> {
  const [commit = '0', prepare = commit] = log.position.split('/')
  const found = await store.eventAt({ commit: BigInt(commit), prepare: BigInt(prepare) })
  if ((await store.identity()) === log.identity && found?.id === log.last) return
  throw new OperationFailure(
    `The server's log is not the one that this backup's files belong to, or ends before them (${log.position}): ` +
      "put the server's backup of that time back first",
  )
}

/** @throws Failed where one can't be put back: nothing was changed */
async function restoreFiles(
  operation: Operation,
  backup: VerifiedBackup | undefined,
  target: FileStore,
): Promise<Pick<RestoreResult, 'files' | 'bytes'>> {
  if (backup === undefined) return { files: 0, bytes: 0 }
  const { manifest, files: source } = backup
  const whole = new Map<string, number>()
  const digests = manifest.files.map(({ digest }) => digest)
  const step = { label: 'restoring files', total: digests.length, unit: 'files' }
  const faulty = await runStep(operation, step, (update) => copyFiles({ source, target, digests, whole }, update))
  for (const [digest, found] of faulty) {
    const fault = faultIn(digest, found)
    throw new OperationFailure(`The file ${digest} of the backup ${fault}, and was whole before: nothing was changed`)
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, manifest.log.file?.bytes ?? 0)
  return { files: digests.length, bytes }
}

/** The highest epoch that anything beside the log has seen it in: the next one is above it. */
async function seenEpochOf({ store, reads, vault, seen }: Installation): Promise<number> {
  const last = seen.read()
  const witnesses = await readLogObservations(reads, CHECKPOINTED_MODELS, vault)
  if (last !== undefined) witnesses.push({ observer: 'this folder', ...last })
  return highestObservedEpoch(witnesses, await store.identity())
}

type RestoreContext = { readonly store: EventStore; readonly origin: Origin; readonly clock: () => number }

/** A log that was left for another one stays left: what was written since is there. */
async function renewFence(
  { report }: Operation,
  { store, ...moving }: RestoreContext,
  fence: NonNullable<ReplacedLog['fence']>,
): Promise<void> {
  if ((await store.closedReason())?.why === 'fenced') return
  await fenceLog(moving, store, fence)
  report.note(`this installation was moved to ${fence.to}, and stays closed`)
}

const VAULT_BATCH_SIZE = 100

/**
 * Deletes what waited: the log says of all of it that it has expired, or does not know of it. Receipts stay, with which
 * senders find what became of their secrets.
 */
async function emptyVault(vault: Vault): Promise<void> {
  const digests = new Set<string>()
  for await (const item of vault.contents()) if (item.kind !== 'receipt') digests.add(item.digest)
  const ended = [...digests].map((digest) => ({ digest }))
  for (let from = 0; from < ended.length; from += VAULT_BATCH_SIZE)
    await vault.end(ended.slice(from, from + VAULT_BATCH_SIZE))
}
