import { Command } from 'commander'
import { resolve } from 'node:path'
import { checkRestore, restore, SERVER_RESTORE, type RestoreResult } from '../maintenance/backup/restore.ts'
import { createLogger } from '../runtime/logger.ts'
import { readSettings } from '../wiring/settings.ts'
import { runAdminAction, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

type RestoreCommandOptions = OutputOptions & { readonly replace?: true; readonly inPlace?: true }

/** `restore`: restores a backup and invalidates the tokens and links issued before. */
export function restoreCommand(open: OpenInstallation): Command {
  return new Command('restore')
    .description('Restore a backup while the service is stopped; existing tokens and signed links become invalid')
    .argument('[folder]', 'Backup created by `adamant backup`')
    .option('--replace', 'Replace the event log of a DATA_DIR that is not empty')
    .option('--in-place', "The log has already been restored, by the server's own tools or by hand")
    .addHelpText('after', HELP)
    .action((from: string | undefined, options: RestoreCommandOptions) =>
      restoreFrom(open, from && resolve(from), options),
    )
}

const HELP = `
All digests are verified before anything is changed, and the log is replaced atomically. The restored log begins a new epoch:
access tokens, refresh tokens and signed links issued before are rejected, pending one-time secrets expire, and new ids skip
1,000,000 numbers. Accounts, passwords and API tokens are as they were at the time of the backup: revoke again what was revoked
since. MASTER_KEY, or master.key in DATA_DIR, must be the master key of the installation that was backed up.

The replaced log is kept as events.db.before-EPOCH; delete it when you no longer need it.

${SERVER_RESTORE}

Examples:
  adamant restore /backups/adamant-2026-11-22
  adamant restore /backups/adamant-2026-11-22 --replace`

async function restoreFrom(
  open: OpenInstallation,
  from: string | undefined,
  options: RestoreCommandOptions,
): Promise<void> {
  const started = performance.now()
  const settings = readSettings(process.env)
  const operation = { report, signal: abortOnStop('Stopped. Run the same command again to resume') }
  const { replace: mayReplace = false, inPlace = false } = options
  const plan = await checkRestore(operation, { settings, from, mayReplace, inPlace })
  try {
    const action = { act: 'restore', subject: from ?? 'in place' }
    const pendingResult = runAdminAction(createLogger(settings.LOG_LEVEL), action, (origin) =>
      restore(operation, open, plan, origin),
    )
    print(await pendingResult, (performance.now() - started) / 1000, options)
  } finally {
    await plan.backup?.files.close()
  }
}

function print(restored: RestoreResult, seconds: number, options: OutputOptions): void {
  const { events, files, epoch } = restored
  const text = [
    `Restored ${formatQuantity(events, 'event')} and ${formatQuantity(files, 'file')}, in epoch ${epoch}. Tokens and signed links issued before are rejected.`,
    'Accounts, passwords and API tokens are as they were at the time of the backup: revoke again what was revoked since. Then start the service.',
  ].join('\n')
  printResult(options, { ...restored, seconds }, text)
}
