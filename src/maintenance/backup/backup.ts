import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../runtime/version.ts'
import { copyLogOf, openFilesIn, openLogCopy, finalizeLogFile } from '../../wiring/backups.ts'
import { EVENT_STORES, LOG_FILE } from '../../wiring/store-engines.ts'
import type { Installation } from '../../wiring/installation.ts'
import { isStoredOnServer } from '../../wiring/store-addresses.ts'
import { copyFiles, type ContentDigest } from '../copy/files.ts'
import { logFacts, type LogFacts } from '../copy/log.ts'
import { fillNewFolder } from '../new-folder.ts'
import { runStep, type Operation } from '../operation.ts'
import { digestOfFile, FILES_FOLDER, writeManifest, writePersons, type Manifest } from './manifest.ts'

/** How to back up stores on servers. */
export const SERVER_BACKUP = `If EVENT_STORE is a server, back up the event log with the server's own tools before you run this command: take a volume
snapshot of one node, or copy its files in the order given in its documentation. \`npx adamant backup\` then copies the files
that the log refers to, including those in GridFS. Read models need no backup, since they can be rebuilt. Do not back up the
vault (vault_* in MongoDB).`

type BackupOperation = Operation & { readonly installation: Installation; readonly to: string }

/**
 * Copies a consistent snapshot of the log, the files that it refers to and the encrypted personal data to a new folder, while the
 * service runs. SQLite itself copies an embedded log; a log on a server is backed up with the server's tools.
 * @throws OperationFailure; the folder then stays empty
 */
export const makeBackup = (backup: BackupOperation): Promise<Manifest> =>
  fillNewFolder(backup.to, async () => {
    const { installation, to } = backup
    const isOnServer = isStoredOnServer(EVENT_STORES, installation.settings.EVENT_STORE)
    const files = openFilesIn(join(to, FILES_FOLDER))
    try {
      const copied = { files, whole: new Map<string, number>() }
      const parts = await (isOnServer ? backUpFilesOnly : backUpWithLog)(backup, copied)
      const manifest = { ...parts, persons: await writePersons(to, installation.persons) }
      writeManifest(to, manifest)
      return manifest
    } finally {
      await files.close()
    }
  })

type BackupFiles = { readonly files: Installation['files']; readonly whole: Map<string, number> }

/** A file may be deleted between the copy of the log and its own copy; a newer copy of the log then does not refer to it. */
const MAX_LOG_COPIES = 3

/** Copies the log first: every file is stored before the event that refers to it. */
async function backUpWithLog(backup: BackupOperation, copied: BackupFiles): Promise<Manifest> {
  const file = join(backup.to, LOG_FILE)
  for (let copy = 1; ; copy++) {
    rmSync(file, { force: true })
    await copyLogFile(backup, file)
    const facts = await factsOfCopy(file)
    const missing = await copyReferencedFiles(backup, copied, facts.files)
    if (missing.length === 0 || copy === MAX_LOG_COPIES)
      return manifestOf(facts, await digestOfFile(file), copied, missing)
  }
}

/** Expects that the log was backed up before, so that the installation has every file that the backup refers to. */
async function backUpFilesOnly(backup: BackupOperation, copied: BackupFiles): Promise<Manifest> {
  backup.report.note(SERVER_BACKUP)
  const facts = await logFacts(backup.installation.store)
  return manifestOf(facts, null, copied, await copyReferencedFiles(backup, copied, facts.files))
}

const copyLogFile = (backup: BackupOperation, file: string): Promise<void> =>
  runStep(backup, { label: 'copying the log', total: undefined, unit: 'pages' }, (update) =>
    copyLogOf(backup.installation.settings, file, (done, total) => update(done, done / total)),
  )

async function factsOfCopy(file: string): Promise<LogFacts> {
  const store = openLogCopy(file)
  try {
    return await logFacts(store)
  } finally {
    await store.close()
    finalizeLogFile(file)
  }
}

/** @returns digests of files that are missing or damaged in the installation */
async function copyReferencedFiles(
  backup: BackupOperation,
  copied: BackupFiles,
  digests: ReadonlySet<string>,
): Promise<string[]> {
  const step = { label: 'copying files', total: digests.size, unit: 'files' }
  const copying = { source: backup.installation.files, target: copied.files, whole: copied.whole, digests }
  return [...(await runStep(backup, step, (update) => copyFiles(copying, update))).keys()]
}

function manifestOf(
  { identity, epoch, events, position, last }: LogFacts,
  file: ContentDigest | null,
  { whole }: BackupFiles,
  missing: string[],
): Manifest {
  return {
    format: 'adamant-backup/1',
    release: VERSION,
    made: new Date().toISOString(),
    log: { identity, epoch, events, position, last, file },
    files: [...whole].map(([digest, bytes]) => ({ digest, bytes })),
    missing,
  }
}
