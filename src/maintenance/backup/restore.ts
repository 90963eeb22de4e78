import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkPersonKey } from '../../commands/accounts/account-directory.ts'
import { joinStores } from '../../commands/installation/join-stores.ts'
import { checkLinkKey } from '../../commands/installation/link-key.ts'
import { fenceLog } from '../../commands/installation/move-log.ts'
import { beginEpoch } from '../../commands/installation/restore-log.ts'
import { LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { parseLineage } from '../../events/lineage.ts'
import { highestObservedEpoch } from '../../projections/engine/log-rollback.ts'
import { formatPosition, type EventStore } from '../../stores/ports/event-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'
import { openFilesIn, prepareLogReplacement, type LogReplacement, type ReplacedLog } from '../../wiring/backups.ts'
import { EVENT_STORES, FILES_FOLDER, LOG_FILE } from '../../wiring/store-engines.ts'
import { READ_MODELS } from '../../wiring/consumers.ts'
import { isLogFileMissing, readAllObservations } from '../../wiring/known-log.ts'
import {
  storeIdentitiesOf,
  NoInstallation,
  type Installation,
  type InstallationPurpose,
} from '../../wiring/installation.ts'
import { BadSettings, type Settings } from '../../wiring/settings.ts'
import { isStoredOnServer } from '../../wiring/store-addresses.ts'
import { copyFiles, faultOfContent } from '../copy/files.ts'
import { copyPersons, findOrphanedPersons } from '../copy/installation.ts'
import { contentOf } from '../new-folder.ts'
import { BadUsage, countItems, OperationFailure, runStep, type Operation } from '../operation.ts'
import { personsIn, readManifest, verifyBackup, type Manifest } from './manifest.ts'

/** How to restore a log on a server. */
export const SERVER_RESTORE = `If EVENT_STORE is a server: stop every Adamant process, restore the server's own backup as its documentation says, start the
server, and run \`adamant restore FROM --in-place\`, which restores the files from FROM and begins a new epoch of the log.
Omit FROM if the files were restored by other means, such as mongorestore of fs.files and fs.chunks.`

type RestoreOptions = {
  readonly settings: Settings
  /** The backup's folder; undefined if log and files have already been restored. */
  readonly from: string | undefined
  /** Whether the contents of DATA_DIR may be replaced. */
  readonly mayReplace: boolean
  /** Whether the log has already been restored. */
  readonly inPlace: boolean
}

type VerifiedBackup = { readonly folder: string; readonly manifest: Manifest; readonly files: FileStore }

/** `log` is undefined if the log has already been restored, `backup` if the files have been, too. */
type RestorePlan = RestoreOptions & {
  readonly log: string | undefined
  readonly backup: VerifiedBackup | undefined
}

/**
 * Checks everything that can be checked without opening the stores, and verifies the whole backup.
 * @throws BadUsage, BadSettings, NoInstallation, OperationFailure
 */
export async function checkRestore(operation: Operation, options: RestoreOptions): Promise<RestorePlan> {
  const { settings, from, mayReplace, inPlace } = options
  const { DATA_DIR, EVENT_STORE } = settings
  const isOnServer = isStoredOnServer(EVENT_STORES, EVENT_STORE)
  if (isOnServer && !inPlace)
    throw new BadUsage(`The event log is on a server: --in-place is required. ${SERVER_RESTORE}`)
  if (from === undefined && !inPlace)
    throw new BadUsage('Missing argument: the backup folder, as in adamant restore FROM')
  if (inPlace && isLogFileMissing(settings)) {
    throw new NoInstallation(
      `no event log in ${resolve(DATA_DIR)}: --in-place requires a log that has already been restored`,
    )
  }
  const manifest = from === undefined ? undefined : readManifest(from)
  if (!isOnServer) checkFolder(DATA_DIR, mayReplace || inPlace)
  checkMasterKey(settings)
  if (from === undefined || manifest === undefined) return { ...options, log: undefined, backup: undefined }
  if (!inPlace && manifest.log.file === null) {
    throw new BadUsage(`${from} contains only files, since its log was on a server: set EVENT_STORE to that server`)
  }
  const files = openFilesIn(join(from, FILES_FOLDER))
  await verifyBackup(operation, from, manifest, files)
  return { ...options, log: inPlace ? undefined : join(from, LOG_FILE), backup: { folder: from, manifest, files } }
}

/** Files that may exist in DATA_DIR before a restore; the master key must. */
const ALLOWED_FILES: ReadonlySet<string> = new Set(['master.key', 'installation.lock'])
/** Left by an interrupted restore, which has been permitted to replace the contents. */
const RESTORE_MARKER = 'restoring'

/** @throws BadUsage if the folder has contents that may not be replaced */
function checkFolder(folder: string, mayReplace: boolean): void {
  const found = contentOf(folder)
  if (mayReplace || found.includes(RESTORE_MARKER) || found.every((name) => ALLOWED_FILES.has(name))) return
  throw new BadUsage(
    `DATA_DIR ${resolve(folder)} is not empty: use --replace to replace its event log with that of the backup, or ` +
      'set DATA_DIR to a new folder',
  )
}

/** Requires the master key of the backup: a new one could not decrypt its data. @throws BadSettings */
function checkMasterKey({ MASTER_KEY, DATA_DIR }: Settings): void {
  const file = join(resolve(DATA_DIR), 'master.key')
  if (MASTER_KEY !== undefined || existsSync(file)) return
  throw new BadSettings([
    `MASTER_KEY must be the master key of the installation that was backed up, or ${file} must contain it: backups do not include it`,
  ])
}

/** `position` and `epoch` are those of the restored log; the rest counts what was restored. */
export type RestoreResult = {
  readonly events: number
  readonly files: number
  readonly bytes: number
  readonly position: string
  readonly epoch: number
}

/** The installation on the restored log. For an embedded log, `replace` puts its file in place. */
type RestoreTarget = {
  readonly installation: Installation
  /** State of the log to replace; undefined if there is none, or it cannot be read. */
  readonly replacedLog: ReplacedLog | undefined
  readonly countEvents: () => Promise<number>
  readonly replace: (previousLogName: string) => Promise<void>
  readonly close: () => Promise<void>
}

type RestoreTargetOpener = (settings: Settings, purpose: InstallationPurpose) => Promise<Installation>

/**
 * Restores everything except the log first, which does not affect the existing log. Then an embedded log, in which the new epoch
 * has already begun, is replaced atomically: after a crash there is either the old log or the new one. A log on a server has been
 * restored with the server's own tools before; it can be served only after LogRestored, which is written last.
 * @throws OperationFailure
 */
export async function restore(
  operation: Operation,
  open: RestoreTargetOpener,
  plan: RestorePlan,
  origin: Origin,
): Promise<RestoreResult> {
  const { settings, backup } = plan
  const isOnServer = isStoredOnServer(EVENT_STORES, settings.EVENT_STORE)
  const target = await (isOnServer ? openServer(open, plan) : openFolder(operation, plan))
  const { installation, replacedLog, replace, close } = target
  try {
    const { store, keys, vault, persons, highWaterMarks } = installation
    const context = { store, origin, clock: Date.now }
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
    const files = await restoreFiles(operation, backup, installation.files)
    const knownEpoch = Math.max(
      replacedLog?.epoch ?? 0,
      backup?.manifest.log.epoch ?? 0,
      await highestSeenEpoch(installation),
    )
    const epoch = await beginEpoch(context, knownEpoch)
    const fence = replacedLog?.fence ?? highWaterMarks.read()?.fence
    if (fence) await renewFence(operation, context, fence)
    await joinStores(context, await storeIdentitiesOf(installation))
    const head = await store.head()
    const events = backup?.manifest.log.events ?? (await target.countEvents())
    // Adding personal data of accounts in the restored log does not affect a log that is still to be replaced.
    if (backup !== undefined) await copyPersons(personsIn(backup.folder, backup.manifest), installation)
    const orphans = await findOrphanedPersons(installation)
    await replace(`before-${epoch}`)
    await persons.forget(orphans)
    await emptyVault(vault)
    return { ...files, events, position: head === 'start' ? '0' : formatPosition(head), epoch }
  } finally {
    await close()
  }
}

async function openServer(open: RestoreTargetOpener, { settings, backup }: RestorePlan): Promise<RestoreTarget> {
  const installation = await open(settings, 'filled')
  try {
    if ((await installation.store.readStream(LOG_STREAM)).length === 0)
      throw new OperationFailure("The server's log is empty: restore the server's backup first")
    await requireNoRunningProcess(installation)
    if (backup !== undefined) await checkLog(installation.store, backup.manifest)
  } catch (error) {
    await installation.close()
    throw error
  }
  return {
    installation,
    replacedLog: undefined,
    countEvents: () => countItems(installation.store.readAll('start')),
    replace: () => Promise.resolve(),
    close: () => installation.close(),
  }
}

async function openFolder({ report }: Operation, { settings, log }: RestorePlan): Promise<RestoreTarget> {
  const { installation, previousLog, damagedVault, replace, close } = await prepareLogReplacement(settings, log)
  if (damagedVault !== undefined)
    report.note(`the vault is damaged: it was renamed to ${damagedVault}, and a new one replaces it`)
  try {
    if (await isOtherInstallation(installation, previousLog)) {
      throw new OperationFailure(
        'DATA_DIR belongs to another installation than the backup: set DATA_DIR to a new folder, or to the folder of that installation',
      )
    }
  } catch (error) {
    await close()
    throw error
  }
  const target = { installation, countEvents: () => countEmbeddedEvents(installation.store), replace, close }
  if (previousLog === 'none') return { ...target, replacedLog: undefined }
  if (!('unreadable' in previousLog)) return { ...target, replacedLog: previousLog }
  const warning = 'the log to be replaced cannot be read, so its epoch is unknown, and whether it was moved'
  report.note(`${warning}: ${previousLog.unreadable}`)
  return { ...target, replacedLog: undefined }
}

/** Whether the previous log and the other stores have known logs, but not this one. */
async function isOtherInstallation(
  installation: Installation,
  previousLog: LogReplacement['previousLog'],
): Promise<boolean> {
  const previous = previousLog === 'none' || 'unreadable' in previousLog ? [] : [previousLog.identity]
  const known = (await readAllObservations(installation)).map(({ log }) => parseLineage(log).identity)
  const identities = new Set([...previous, ...known])
  return identities.size > 0 && !identities.has(await installation.store.identity())
}

/** Positions of an embedded log number its events, including unreadable ones. */
async function countEmbeddedEvents(store: EventStore): Promise<number> {
  const head = await store.head()
  return head === 'start' ? 0 : Number(head.commit)
}

/** Does not detect processes without projections; these exit when they read LogRestored. @throws OperationFailure */
async function requireNoRunningProcess({ reads }: Installation): Promise<void> {
  for (const { declaration } of READ_MODELS) {
    if (await reads.isLeaseHeld(declaration))
      throw new OperationFailure('A process of this installation is running: stop all of them first')
  }
}

/** @throws OperationFailure if the server has another log, or one that is older than the backup's files */
async function checkLog(store: EventStore, { log }: Manifest): Promise<void> {
  const [commit = '0', prepare = commit] = log.position.split('/')
  const found = await store.eventAt({ commit: BigInt(commit), prepare: BigInt(prepare) })
  if ((await store.identity()) === log.identity && found?.id === log.last) return
  throw new OperationFailure(
    `The server's log does not belong to this backup, or ends before its position ${log.position}: ` +
      "restore the server's backup of that time first",
  )
}

/** @throws OperationFailure if a file cannot be restored; nothing was changed then */
async function restoreFiles(
  operation: Operation,
  backup: VerifiedBackup | undefined,
  target: FileStore,
): Promise<Pick<RestoreResult, 'files' | 'bytes'>> {
  if (backup === undefined) return { files: 0, bytes: 0 }
  const { manifest, files: source } = backup
  const intactFiles = new Map<string, number>()
  const digests = manifest.files.map(({ digest }) => digest)
  const step = { label: 'restoring files', total: digests.length, unit: 'files' }
  const faulty = await runStep(operation, step, (update) => copyFiles({ source, target, digests, intactFiles }, update))
  for (const [digest, actual] of faulty) {
    const fault = faultOfContent(digest, actual)
    throw new OperationFailure(
      `The file ${digest} of the backup ${fault}, but was intact when the backup was verified; nothing was changed`,
    )
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, manifest.log.file?.bytes ?? 0)
  return { files: digests.length, bytes }
}

/** The highest epoch that the other stores have seen; the new epoch must be higher. */
const highestSeenEpoch = async (installation: Installation): Promise<number> =>
  highestObservedEpoch(await readAllObservations(installation), await installation.store.identity())

type RestoreContext = { readonly store: EventStore; readonly origin: Origin; readonly clock: () => number }

/** If the replaced log was moved to another installation, the restored one is fenced too: later writes are in the other one. */
async function renewFence(
  { report }: Operation,
  { store, ...moveContext }: RestoreContext,
  fence: NonNullable<ReplacedLog['fence']>,
): Promise<void> {
  if ((await store.closedReason())?.why === 'fenced') return
  await fenceLog(moveContext, store, fence)
  report.note(`this installation was moved to ${fence.to} and stays read-only`)
}

const VAULT_BATCH_SIZE = 100

/**
 * Deletes entries and mails: in the restored log their secrets have expired or do not exist. Receipts are kept, so that senders
 * still see the state of their secrets.
 */
async function emptyVault(vault: Vault): Promise<void> {
  const digests = new Set<string>()
  for await (const item of vault.contents()) if (item.kind !== 'receipt') digests.add(item.digest)
  const ended = [...digests].map((digest) => ({ digest }))
  for (let from = 0; from < ended.length; from += VAULT_BATCH_SIZE)
    await vault.end(ended.slice(from, from + VAULT_BATCH_SIZE))
}
