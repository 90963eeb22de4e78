import { Command } from 'commander'
import { resolve } from 'node:path'
import { makeBackup, SERVER_BACKUP } from '../maintenance/backup/backup.ts'
import type { Manifest } from '../maintenance/backup/manifest.ts'
import { checkNewFolder } from '../maintenance/new-folder.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { readSettings } from '../wiring/settings.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

/** `backup`: an online backup of an installation. */
export function backupCommand(open: OpenInstallation): Command {
  return new Command('backup')
    .description('Back up the event log and the files without downtime; secrets and the master key are not included')
    .argument('<folder>', 'New or empty folder to write the backup to')
    .addHelpText('after', HELP)
    .action((folder: string, options: OutputOptions) => backup(open, resolve(folder), options))
}

const HELP = `
The backup contains a consistent snapshot of the event log, the files that it refers to, the encrypted e-mail addresses of
the accounts, and a manifest with the SHA-256 of each.
It does not contain one-time secrets or the master key: keep a copy of the master key elsewhere. Restore the backup with
\`adamant restore\`.

${SERVER_BACKUP}

Example:
  adamant backup /backups/adamant-2026-11-22`

async function backup(open: OpenInstallation, folder: string, options: OutputOptions): Promise<void> {
  const started = performance.now()
  checkNewFolder(folder, resolve(readSettings(process.env).DATA_DIR))
  const task = asAdminAction({ act: 'backup', subject: folder }, (installation) =>
    makeBackup({ installation, folder, report, signal: abortOnStop('Stopped; no backup was written') }),
  )
  print(await withInstallation(open, task), folder, (performance.now() - started) / 1000, options)
}

/** @throws OperationFailure if files are missing or damaged in the installation, and therefore missing from the backup */
function print({ log, files, missing }: Manifest, folder: string, seconds: number, options: OutputOptions): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, log.file?.bytes ?? 0)
  const result = { events: log.events, files: files.length, bytes, position: log.position, seconds }
  const text = `Backed up ${formatQuantity(log.events, 'event')} and ${formatQuantity(files.length, 'file')} (${formatQuantity(bytes, 'byte')}) to ${folder}`
  printResult(options, result, text)
  if (missing.length === 0) return
  throw new OperationFailure(
    `The backup was written, but the installation lacks ${formatQuantity(missing.length, 'file')} that the event log refers to ` +
      `(missing or damaged): ${missing.slice(0, 10).join(', ')}. Keep an older backup, which may contain them`,
  )
}
