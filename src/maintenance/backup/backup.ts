import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../runtime/version.ts'
import { copyLogOf, openFilesIn, openLogCopy, settleLog } from '../../wiring/backups.ts'
import { EVENT_STORES, LOG_FILE } from '../../wiring/engines.ts'
import type { Installation } from '../../wiring/installation.ts'
import { liesOnServer } from '../../wiring/store-addresses.ts'
import { copyFiles, type Digested } from '../copy/files.ts'
import { logFacts, type LogFacts } from '../copy/log.ts'
import { inNewFolder } from '../new-folder.ts'
import { inStep, type Operation } from '../operation.ts'
import { digestOfFile, FILES_FOLDER, writeManifest, writePersons, type Manifest } from './folder.ts'

/** How the servers' own backups are taken. */
export const SERVER_BACKUP = `With EVENT_STORE on a server the log is the server's to back up, and before this command: a volume snapshot of one node,
or its files in the order that its documentation gives. \`npx adamant backup\` then copies the files that the log refers
to, out of GridFS too. Read models are rebuilt, and the vault (vault_* in MongoDB) belongs in no backup.`

type Backup = Operation & { readonly installation: Installation; readonly to: string }

/**
 * Copies the log as it is at one moment, the files that it refers to and the sealed rows of persons into a new folder, beside the
 * running service. An embedded log's file is copied by SQLite itself; one on a server is the server's to back up.
 * @throws Failed, and nothing is left in the folder
 */
export const makeBackup = (backup: Backup): Promise<Manifest> =>
  inNewFolder(backup.to, async () => {
    const { installation, to } = backup
    const isOnServer = liesOnServer(EVENT_STORES, installation.settings.EVENT_STORE)
    const files = openFilesIn(join(to, FILES_FOLDER))
    try {
      const copied = { files, whole: new Map<string, number>() }
      const parts = await (isOnServer ? beside : withLog)(backup, copied)
      const manifest = { ...parts, persons: await writePersons(to, installation.persons) }
      writeManifest(to, manifest)
      return manifest
    } finally {
      await files.close()
    }
  })

type Copied = { readonly files: Installation['files']; readonly whole: Map<string, number> }

/** A file that goes between the copy of the log and its own is in no newer copy of the log. */
const COPIES = 3

/** The log first: what it refers to has been there before it. */
async function withLog(backup: Backup, copied: Copied): Promise<Manifest> {
  const file = join(backup.to, LOG_FILE)
  for (let copy = 1; ; copy++) {
    rmSync(file, { force: true })
    await copyLogFile(backup, file)
    const facts = await factsOfCopy(file)
    const missing = await copyThese(backup, copied, facts.files)
    if (missing.length === 0 || copy === COPIES) return manifestOf(facts, await digestOfFile(file), copied, missing)
  }
}

/** What the server's log refers to is in the files when it has been backed up. */
async function beside(backup: Backup, copied: Copied): Promise<Manifest> {
  backup.report.note(SERVER_BACKUP)
  const facts = await logFacts(backup.installation.store)
  return manifestOf(facts, null, copied, await copyThese(backup, copied, facts.files))
}

const copyLogFile = (backup: Backup, file: string): Promise<void> =>
  inStep(backup, { label: 'copying the log', total: undefined, unit: 'pages' }, (update) =>
    copyLogOf(backup.installation.settings, file, (done, total) => update(done, done / total)),
  )

async function factsOfCopy(file: string): Promise<LogFacts> {
  const store = openLogCopy(file)
  try {
    return await logFacts(store)
  } finally {
    await store.close()
    settleLog(file)
  }
}

/** @returns those that the installation does not have whole */
async function copyThese(backup: Backup, copied: Copied, digests: ReadonlySet<string>): Promise<string[]> {
  const step = { label: 'copying files', total: digests.size, unit: 'files' }
  const copying = { source: backup.installation.files, target: copied.files, whole: copied.whole, digests }
  return [...(await inStep(backup, step, (update) => copyFiles(copying, update))).keys()]
}

function manifestOf(
  { identity, epoch, events, position, last }: LogFacts,
  file: Digested | null,
  { whole }: Copied,
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
