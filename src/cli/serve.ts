import { limitHeapGrowth } from './heap.ts'
import { Command } from 'commander'
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { VERSION } from '../runtime/version.ts'
import { readOnly } from '../wiring/open-installation.ts'
import { startService, type RunningService } from '../wiring/service.ts'
import { renamedSettingWarnings, readSettings, loggableSettings, storeWarnings } from '../wiring/settings.ts'
import { EXIT_FAILURE } from './failure.ts'
import type { OpenInstallation } from './with-installation.ts'
import { listenForStop, type UnexpectedExitReporter } from './process-exit.ts'
import { note, printResult, type OutputOptions } from './output.ts'

/** Bits by which others than the owner may read, write or enter. */
const OTHER_USERS_MODE_BITS = 0o077

/** What an installation keeps in its folder, SQLite's own files beside a database too. */
const INSTALLATION_FILES = /^(master\.key|.*\.db(-wal|-shm|\.version-\d+)?|outbox|files)$/

/**
 * Names the files of an installation that other users of this machine may read: made by an older release, copied by hand or
 * restored. New ones are for their owner alone. On Windows modes say nothing.
 * @returns a sentence for the log, with the command that mends it; undefined where all is well
 */
export function describeReadableFiles(dataDir: string): string | undefined {
  if (process.platform === 'win32' || !isFolder(dataDir)) return undefined
  const readable = readdirSync(dataDir).filter(
    (name) => INSTALLATION_FILES.test(name) && isReadableByOthers(join(dataDir, name)),
  )
  if (readable.length === 0) return undefined
  return `other users of this machine may read ${readable.join(', ')} in ${dataDir}: chmod -R go= ${dataDir}`
}

/** Whatever is wrong with the path itself is for whoever opens it to say. */
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

/** `serve`: the service, until a signal. */
export function serveCommand(open: OpenInstallation, lastWords: UnexpectedExitReporter): Command {
  return new Command('serve')
    .description('run the service; SIGTERM or Ctrl-C stops it when the requests under way are answered')
    .option('--read-only', 'answer reads alone: nothing is written to the log, mailed, scored or swept')
    .option('--json', 'print one line of JSON on stdout when the service is ready')
    .addHelpText('after', EXAMPLE)
    .action((options: ServeOptions) => serve(open, lastWords, options))
}

const EXAMPLE = `
Example:
  PORT=8080 DATA_DIR=./adamant-data npx adamant serve

Every setting comes from the environment; README.md lists them.`

async function serve(open: OpenInstallation, lastWords: UnexpectedExitReporter, options: ServeOptions): Promise<void> {
  limitHeapGrowth()
  lastWords.setActivity('it was starting')
  const signal = listenForStop()
  void signal.received.then((name) => exitAfterTimeout(name, lastWords))
  const settings = readSettings(process.env)
  const readable = describeReadableFiles(resolve(settings.DATA_DIR))
  const installation = await open(settings, options.readOnly === true ? 'existing' : 'made')
  installation.log.info({ version: VERSION, node: process.version, settings: loggableSettings(settings) }, 'starting')
  if (readable !== undefined) installation.log.warn(readable)
  for (const word of renamedSettingWarnings(process.env)) installation.log.warn(word)
  const running = await startService(options.readOnly === true ? readOnly(installation) : installation)
  for (const warning of storeWarnings(settings)) installation.log.warn(warning)
  lastWords.setActivity('it was reading the log up to its head')
  const stopped = Promise.race([
    signal.received.then((name) => stop(running, name, options)),
    running.fatalError.then((reason) => stopAndThrow(running, reason)),
  ]).finally(() => lastWords.clearActivity())
  // It is waited for below; until then nobody looks at it.
  stopped.catch(() => undefined)
  await running.ready()
  if (!signal.isReceived) {
    lastWords.setActivity('it was serving')
    announce(running, resolve(settings.DATA_DIR), options)
  }
  await stopped
}

function announce({ url }: RunningService, data: string, options: OutputOptions): void {
  if (options.json === true) printResult(options, { url: url ?? null, data, pid: process.pid }, '')
  else note(`adamant is ready${url === undefined ? '' : ` at ${url}`}, data in ${data}`)
}

/**
 * Milliseconds after a signal at which the process ends, whatever still keeps it: a start that waits for a store, or a
 * connection to one that nobody answers. A stop of the service takes 10 s at most.
 */
const EXIT_TIMEOUT_MS = 11_000

/** Milliseconds after a stop that connections may take to end by themselves. */
const CLOSE_TIMEOUT_MS = 500

function exitAfterTimeout(signal: string, lastWords: UnexpectedExitReporter): void {
  lastWords.setActivity(`it was stopping (${signal})`)
  const end = () => {
    lastWords.setActivity(`it was stopping (${signal}), for ${EXIT_TIMEOUT_MS / 1000} s already`)
    process.exit(EXIT_FAILURE)
  }
  setTimeout(end, EXIT_TIMEOUT_MS).unref()
}

/** @throws the reason, which becomes the last line and exit code 1 */
async function stopAndThrow(running: RunningService, reason: Error): Promise<never> {
  await running.stop()
  throw reason
}

async function stop(running: RunningService, signal: string, { json }: OutputOptions): Promise<void> {
  if (json !== true) note(`${signal}: finishing the requests under way; once more ends at once`)
  await running.stop()
  // Everything is closed or was given up: a mail server that says nothing must not keep the process.
  setTimeout(() => process.exit(), CLOSE_TIMEOUT_MS).unref()
}
