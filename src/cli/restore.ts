import { Command } from 'commander'
import { resolve } from 'node:path'
import { checkRestore, restore, SERVER_RESTORE, type RestoreResult } from '../maintenance/backup/restore.ts'
import { createLogger } from '../runtime/logger.ts'
import { readSettings } from '../wiring/settings.ts'
import { runAdminAction, type OpenInstallation } from './with-installation.ts'
import { formatCount, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

type RestoreCommandOptions = OutputOptions & { readonly replace?: true; readonly inPlace?: true }

/** `restore`: an installation goes back to a backup, and whatever was given out since is refused. */
export function restoreCommand(open: OpenInstallation): Command {
  return new Command('restore')
    .description('put a backup back while nothing runs; tokens and links that were given out before end')
    .argument('[folder]', 'the backup that `npx adamant backup` made')
    .option('--replace', 'DATA_DIR holds something: put the log in the place of the one that is there')
    .option('--in-place', "the log is back already, by the server's own way or by hand")
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((from: string | undefined, options: RestoreCommandOptions) =>
      restoreFrom(open, from && resolve(from), options),
    )
}

const HELP = `
Every digest is verified before anything is changed, and the log takes its place in one step. It begins a new epoch:
access and refresh tokens and signed links from before are refused, waiting one-time secrets expire, ids go on 1,000,000
further on. Accounts, passwords and API tokens are as they were at the backup: what was revoked since is to be revoked
again. MASTER_KEY, or master.key in DATA_DIR, must be the key that the installation had.

The log that is replaced stays beside the new one as events.db.before-EPOCH; delete it when you don't need it any more.

${SERVER_RESTORE}

Examples:
  npx adamant restore /backups/adamant-2026-11-22
  npx adamant restore /backups/adamant-2026-11-22 --replace`

async function restoreFrom(
  open: OpenInstallation,
  from: string | undefined,
  options: RestoreCommandOptions,
): Promise<void> {
  const started = performance.now()
  const settings = readSettings(process.env)
  const operation = { report, signal: abortOnStop('Stopped. Run the same command again') }
  const { replace: mayReplace = false, inPlace = false } = options
  const checked = await checkRestore(operation, { settings, from, mayReplace, inPlace })
  try {
    const act = { act: 'restore', subject: from ?? 'in place' }
    const work = runAdminAction(createLogger(settings.LOG_LEVEL), act, (by) => restore(operation, open, checked, by))
    print(await work, (performance.now() - started) / 1000, options)
  } finally {
    await checked.backup?.files.close()
  }
}

function print(restored: RestoreResult, seconds: number, options: OutputOptions): void {
  const { events, files, epoch } = restored
  const text = [
    `${formatCount(events)} events and ${formatCount(files)} files are back, in epoch ${epoch}. Tokens and links from before are refused.`,
    'Accounts, passwords and API tokens are as they were at the backup: revoke again what was revoked since. Start the service.',
  ].join('\n')
  printResult(options, { ...restored, seconds }, text)
}
