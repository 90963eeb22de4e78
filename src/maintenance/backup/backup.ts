import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { VERSION } from '../../runtime/version.ts'
import { copyLogOf, openFilesIn, openLogCopy, finalizeLogFile } from '../../wiring/backups.ts'
import { EVENT_STORES, FILES_FOLDER, LOG_FILE } from '../../wiring/store-engines.ts'
import type { Installation } from '../../wiring/installation.ts'
import { isStoredOnServer } from '../../wiring/store-addresses.ts'
import { copyFiles, type ContentDigest } from '../copy/files.ts'
import { readLogFacts, type LogFacts } from '../copy/log.ts'
import { fillNewFolder } from '../new-folder.ts'
import { DamagedStore } from '../../stores/ports/event-store.ts'
import type { Settings } from '../../wiring/settings.ts'
import { OperationFailure, runStep, type Operation } from '../operation.ts'
import { digestOfFile, writeManifest, writePersons, type Manifest } from './manifest.ts'

/** How to back up stores on servers. */
export const SERVER_BACKUP = `If EVENT_STORE is a server, back up the event log with the server's own tools before you run this command: take a volume
snapshot of one node, or copy its files in the order given in its documentation. \`adamant backup\` then copies the files
that the log refers to, including those in GridFS. Read models need no backup, since they can be rebuilt. Do not back up the
vault (vault_* in MongoDB).`

type BackupOperation = Operation & { readonly installation: Installation; readonly folder: string }

/**
 * Copies a consistent snapshot of the log, the files that it refers to and the encrypted personal data to a new folder, while the
 * service runs. SQLite itself copies an embedded log; a log on a server is backed up with the server's tools.
 * @throws OperationFailure; the folder then stays empty
 */
export const makeBackup = (backup: BackupOperation): Promise<Manifest> =>
  fillNewFolder(backup.folder, async () => {
    const { installation, folder } = backup
    const isOnServer = isStoredOnServer(EVENT_STORES, installation.settings.EVENT_STORE)
    const files = openFilesIn(join(folder, FILES_FOLDER))
    try {
      const backupFiles = { files, intactFiles: new Map<string, number>() }
      const parts = await (isOnServer ? backUpFilesOnly : backUpWithLog)(backup, backupFiles)
      const manifest = { ...parts, persons: await writePersons(folder, installation.persons) }
      writeManifest(folder, manifest)
      return manifest
    } finally {
      await files.close()
    }
  })

type BackupFiles = { readonly files: Installation['files']; readonly intactFiles: Map<string, number> }

/** A file may be deleted between the copy of the log and its own copy; a newer copy of the log then does not refer to it. */
const MAX_LOG_COPIES = 3

/** Copies the log first: every file is stored before the event that refers to it. */
async function backUpWithLog(backup: BackupOperation, backupFiles: BackupFiles): Promise<Manifest> {
  const file = join(backup.folder, LOG_FILE)
  for (let copy = 1; ; copy++) {
    rmSync(file, { force: true })
    await copyLogFile(backup, file)
    const facts = await factsOfCopy(backup.installation.settings, file)
    const missing = await copyReferencedFiles(backup, backupFiles, facts.files)
    if (missing.length === 0 || copy === MAX_LOG_COPIES)
      return manifestOf(facts, await digestOfFile(file), backupFiles, missing)
  }
}

/** Expects that the log was backed up before, so that the installation has every file that the backup refers to. */
async function backUpFilesOnly(backup: BackupOperation, backupFiles: BackupFiles): Promise<Manifest> {
  backup.report.note(SERVER_BACKUP)
  const facts = await readLogFacts(backup.installation.store)
  return manifestOf(facts, null, backupFiles, await copyReferencedFiles(backup, backupFiles, facts.files))
}

const copyLogFile = (backup: BackupOperation, file: string): Promise<void> =>
  runStep(backup, { label: 'copying the log', total: undefined, unit: 'pages' }, (update) =>
    copyLogOf(backup.installation.settings, file, (done, total) => update(done, done / total)),
  )

/** A copy is damaged if the log is. @throws OperationFailure */
async function factsOfCopy({ DATA_DIR }: Settings, file: string): Promise<LogFacts> {
  try {
    const store = openLogCopy(file)
    const facts = await readLogFacts(store).finally(() => store.close())
    finalizeLogFile(file)
    return facts
  } catch (error) {
    if (!(error instanceof DamagedStore)) throw error
    const log = join(resolve(DATA_DIR), LOG_FILE)
    throw new OperationFailure(`${log} is damaged, so nothing was backed up: ${error.remedy}`)
  }
}

/** @returns digests of files that are missing or damaged in the installation */
async function copyReferencedFiles(
  backup: BackupOperation,
  backupFiles: BackupFiles,
  digests: ReadonlySet<string>,
): Promise<string[]> {
  const step = { label: 'copying files', total: digests.size, unit: 'files' }
  const options = {
    source: backup.installation.files,
    target: backupFiles.files,
    intactFiles: backupFiles.intactFiles,
    digests,
  }
  return [...(await runStep(backup, step, (update) => copyFiles(options, update))).keys()]
}

function manifestOf(
  { identity, epoch, events, position, last }: LogFacts,
  file: ContentDigest | null,
  { intactFiles }: BackupFiles,
  missing: string[],
): Manifest {
  return {
    format: 'adamant-backup/1',
    release: VERSION,
    made: new Date().toISOString(),
    log: { identity, epoch, events, position, last, file },
    files: [...intactFiles].map(([digest, bytes]) => ({ digest, bytes })),
    missing,
  }
}
