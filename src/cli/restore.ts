import { Command } from 'commander'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { EVENT_STORES, LOG_FILE } from '../wiring/engines.ts'
import { liesOnServer } from '../wiring/store-addresses.ts'
import { readSettings, type Settings } from '../wiring/settings.ts'
import { openLog } from '../runtime/log.ts'
import type { Files } from '../stores/ports/files.ts'
import { noted } from './administer.ts'
import type { Backups } from '../maintenance/backup/backups.ts'
import { verifyBackup } from '../maintenance/backup/digests.ts'
import { FILES_FOLDER, readManifest, type Manifest } from '../maintenance/backup/manifest.ts'
import { checkFolder, checkMasterKey } from '../maintenance/backup/restore-checks.ts'
import type { Asked } from '../maintenance/backup/restore-files.ts'
import { restoreFolder, type Restored } from '../maintenance/backup/restore-folder.ts'
import { restoreServer } from '../maintenance/backup/restore-server.ts'
import { SERVER_RESTORE } from '../maintenance/backup/servers.ts'
import { BadUsage } from '../maintenance/operation.ts'
import { NoInstallation } from '../wiring/installation.ts'
import type { Open } from './installed.ts'
import { printResult, type OutputOptions } from './output.ts'
import { count } from './progress-bar.ts'

type RestoreOptions = OutputOptions & { readonly replace?: true; readonly inPlace?: true }

/** `restore`: an installation goes back to a backup, and whatever was given out since is refused. */
export function restoreCommand(open: Open, backups: Backups): Command {
  return new Command('restore')
    .description('put a backup back while nothing runs; tokens and links that were given out before end')
    .argument('[folder]', 'the backup that `npx adamant backup` made')
    .option('--replace', 'DATA_DIR holds something: put the log in the place of the one that is there')
    .option('--in-place', "the log is back already, by the server's own way or by hand")
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((from: string | undefined, options: RestoreOptions) => restore(open, backups, from, options))
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

async function restore(open: Open, backups: Backups, from: string | undefined, options: RestoreOptions): Promise<void> {
  const started = performance.now()
  const settings = readSettings(process.env)
  const asked = await readAsked(backups, from && resolve(from), settings, options)
  try {
    const act = { act: 'restore', subject: from === undefined ? 'in place' : resolve(from) }
    const restored = await noted(openLog(settings.LOG_LEVEL), act, (by) =>
      liesOnServer(EVENT_STORES, settings.EVENT_STORE)
        ? restoreServer(open, settings, asked, by)
        : restoreFolder(backups, settings, asked, by),
    )
    report(restored, (performance.now() - started) / 1000, options)
  } finally {
    await asked.held?.close()
  }
}

/** Looks at all that can be looked at while nothing is open. @throws BadUsage, BadSettings, Failed */
async function readAsked(
  backups: Backups,
  from: string | undefined,
  settings: Settings,
  { replace, inPlace }: RestoreOptions,
): Promise<Asked> {
  const isServer = liesOnServer(EVENT_STORES, settings.EVENT_STORE)
  if (isServer && inPlace !== true) throw new BadUsage(`The log is on a server. ${SERVER_RESTORE}`)
  if (from === undefined && inPlace !== true) throw new BadUsage('Name the backup: npx adamant restore FROM')
  if (inPlace === true && !isServer && !existsSync(join(settings.DATA_DIR, LOG_FILE))) {
    throw new NoInstallation(
      `no log in ${resolve(settings.DATA_DIR)}: --in-place begins a new epoch of one that is there`,
    )
  }
  const manifest = from === undefined ? undefined : readManifest(from)
  if (!isServer) checkFolder(settings.DATA_DIR, replace === true || inPlace === true)
  checkMasterKey(settings)
  const log = inPlace === true ? undefined : logOf(from, manifest)
  const held = from === undefined ? undefined : await verified(backups, from, manifest)
  return { from, log, manifest, held }
}

function logOf(from: string | undefined, manifest: Manifest | undefined): string {
  if (from !== undefined && manifest?.log.file) return join(from, LOG_FILE)
  throw new BadUsage(`${from} holds files only, its log was on a server: set EVENT_STORE to that`)
}

async function verified(backups: Backups, from: string, manifest: Manifest | undefined): Promise<Files | undefined> {
  if (manifest === undefined) return undefined
  const held = backups.openFiles(join(from, FILES_FOLDER))
  await verifyBackup(from, manifest, held)
  return held
}

function report(restored: Restored, seconds: number, options: OutputOptions): void {
  const { events, files, epoch } = restored
  const text = [
    `${count(events)} events and ${count(files)} files are back, in epoch ${epoch}. Tokens and links from before are refused.`,
    'Accounts, passwords and API tokens are as they were at the backup: revoke again what was revoked since. Start the service.',
  ].join('\n')
  printResult(options, { ...restored, seconds }, text)
}
