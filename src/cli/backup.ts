import { Command } from 'commander'
import { resolve } from 'node:path'
import { makeBackup, SERVER_BACKUP } from '../maintenance/backup/backup.ts'
import type { Manifest } from '../maintenance/backup/manifest.ts'
import { checkNewFolder } from '../maintenance/new-folder.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { readSettings } from '../wiring/settings.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

/** `backup`: what an installation can be restored from, taken while it runs. */
export function backupCommand(open: OpenInstallation): Command {
  return new Command('backup')
    .description(
      'copy the log and the files of an installation, beside the running service; never its secrets or its key',
    )
    .argument('<folder>', 'a new or empty one, where the backup goes')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((to: string, options: OutputOptions) => backup(open, resolve(to), options))
}

const HELP = `
The backup holds the log as it was at one moment, the files that it refers to, the sealed addresses of its accounts, and a
manifest with the SHA-256 of each.
It has no one-time secrets, and not the master key: keep a copy of that elsewhere. Restore it by \`npx adamant restore\`.

${SERVER_BACKUP}

Example:
  npx adamant backup /backups/adamant-2026-11-22`

async function backup(open: OpenInstallation, to: string, options: OutputOptions): Promise<void> {
  const started = performance.now()
  checkNewFolder(to, resolve(readSettings(process.env).DATA_DIR))
  const act = asAdminAction({ act: 'backup', subject: to }, (installation) =>
    makeBackup({ installation, to, report, signal: abortOnStop('Stopped. Nothing was backed up') }),
  )
  print(await withInstallation(open, act), to, (performance.now() - started) / 1000, options)
}

/** @throws Failed where the installation itself lacks files: the backup is as good as that */
function print({ log, files, missing }: Manifest, to: string, seconds: number, options: OutputOptions): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, log.file?.bytes ?? 0)
  const result = { events: log.events, files: files.length, bytes, position: log.position, seconds }
  const text = `${formatCount(log.events)} events and ${formatCount(files.length)} files, ${formatCount(bytes)} bytes, are in ${to}`
  printResult(options, result, text)
  if (missing.length === 0) return
  throw new OperationFailure(
    `The backup is written, but ${formatCount(missing.length)} files that certifications refer to are missing or damaged in the ` +
      `installation: ${missing.slice(0, 10).join(', ')}. Keep an older backup, which may have them`,
  )
}
