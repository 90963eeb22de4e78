import { limitHeapGrowth } from './heap.ts'
import { Command } from 'commander'
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { VERSION } from '../runtime/version.ts'
import { findWriteRefusals, startService, type RunningService } from '../wiring/service.ts'
import { renamedSettingWarnings, readSettings, loggableSettings, storeWarnings } from '../wiring/settings.ts'
import { EXIT_FAILURE } from './failure.ts'
import type { OpenInstallation } from './with-installation.ts'
import { listenForStop, untilStopped, type UnexpectedExitReporter } from './process-exit.ts'
import { note, printResult, type OutputOptions } from './output.ts'

/** Permission bits of group and others. */
const OTHER_USERS_MODE_BITS = 0o077

/** Files and folders of an installation, including SQLite's companions of a database. */
const INSTALLATION_FILES = /^(master\.key|.*\.db(-wal|-shm|\.version-\d+)?|outbox|files)$/

/**
 * Finds files of an installation that other users of this machine can read: created by an older release, copied by hand or
 * restored. New files are readable by their owner only. Not checked on Windows, where file modes do not apply.
 * @returns a log message with the command that fixes the permissions; undefined if there are no such files
 */
export function describeReadableFiles(dataDir: string): string | undefined {
  if (process.platform === 'win32' || !isFolder(dataDir)) return undefined
  const readable = readdirSync(dataDir).filter(
    (name) => INSTALLATION_FILES.test(name) && isReadableByOthers(join(dataDir, name)),
  )
  if (readable.length === 0) return undefined
  return `other users of this machine can read ${readable.join(', ')} in ${dataDir}; run: chmod -R go= ${dataDir}`
}

/** False also if the path cannot be read: opening the installation reports that. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function isReadableByOthers(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & OTHER_USERS_MODE_BITS) !== 0
}

type ServeOptions = OutputOptions & { readonly readOnly?: true }

/** `serve`: runs the service until a signal. */
export function serveCommand(open: OpenInstallation, exitReporter: UnexpectedExitReporter): Command {
  return new Command('serve')
    .description('Run the service; SIGTERM or Ctrl-C stops it gracefully')
    .option('--read-only', 'Reject writes, and do not send mail, score diamonds or expire secrets')
    .option('--json', 'Print one line of JSON on stdout when the service is ready')
    .addHelpText('after', EXAMPLE)
    .action((options: ServeOptions) => serve(open, exitReporter, options))
}

const EXAMPLE = `
Example:
  PORT=8080 DATA_DIR=./adamant-data adamant serve

Settings are read from environment variables; README.md lists them.`

async function serve(
  open: OpenInstallation,
  exitReporter: UnexpectedExitReporter,
  options: ServeOptions,
): Promise<void> {
  limitHeapGrowth()
  exitReporter.setActivity('starting')
  const signal = listenForStop()
  const stopped = untilStopped(signal)
  void stopped.then((name) => exitAfterTimeout(name, exitReporter))
  const settings = readSettings(process.env)
  const permissionWarning = describeReadableFiles(resolve(settings.DATA_DIR))
  const isReadOnly = options.readOnly === true
  const installation = await open(settings, isReadOnly ? 'served read-only' : 'served')
  installation.log.info({ version: VERSION, node: process.version, settings: loggableSettings(settings) }, 'starting')
  if (permissionWarning !== undefined) installation.log.warn(permissionWarning)
  for (const warning of renamedSettingWarnings(process.env)) installation.log.warn(warning)
  const service = await startService(installation, { isReadOnly, signal })
  for (const warning of storeWarnings(settings)) installation.log.warn(warning)
  exitReporter.setActivity('catching up with the event log')
  const shutdown = Promise.race([
    stopped.then((name) => stop(service, name, options)),
    service.fatalError.then((reason) => stopAndThrow(service, reason)),
  ]).finally(() => exitReporter.clearActivity())
  // Awaited below; a rejection before that must not count as unhandled.
  shutdown.catch(() => undefined)
  await service.ready()
  if (!signal.aborted) {
    exitReporter.setActivity('serving')
    if (!isReadOnly) for (const refusal of await findWriteRefusals(installation)) installation.log.warn(refusal)
    announce(service, resolve(settings.DATA_DIR), options)
  }
  await shutdown
}

function announce({ url }: RunningService, dataDir: string, options: OutputOptions): void {
  if (options.json === true) printResult(options, { url: url ?? null, data: dataDir, pid: process.pid }, '')
  else note(`adamant is ready${url === undefined ? '' : ` at ${url}`}, data in ${dataDir}`)
}

/**
 * Milliseconds after a signal at which the process exits, even if a start still waits for a store or a connection to a store
 * hangs. A graceful stop takes at most 10 s.
 */
const EXIT_TIMEOUT_MS = 11_000

/** Milliseconds that connections may take to close after a stop. */
const CLOSE_TIMEOUT_MS = 500

function exitAfterTimeout(signal: string, exitReporter: UnexpectedExitReporter): void {
  exitReporter.setActivity(`stopping (${signal})`)
  const forceExit = () => {
    exitReporter.setActivity(`stopping (${signal}), ${EXIT_TIMEOUT_MS / 1000} s after the signal`)
    process.exit(EXIT_FAILURE)
  }
  setTimeout(forceExit, EXIT_TIMEOUT_MS).unref()
}

/** @throws the reason, which is printed last; exit code 1 */
async function stopAndThrow(service: RunningService, reason: Error): Promise<never> {
  await service.stop()
  throw reason
}

async function stop(service: RunningService, signal: string, { json }: OutputOptions): Promise<void> {
  if (json !== true) note(`${signal}: finishing requests in progress; send the signal again to exit immediately`)
  await service.stop()
  // Everything is closed or abandoned: an unresponsive mail server must not keep the process alive.
  setTimeout(() => process.exit(), CLOSE_TIMEOUT_MS).unref()
}
