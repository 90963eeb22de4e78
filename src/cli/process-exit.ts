import { OperationFailure } from '../maintenance/operation.ts'
import { note } from './output.ts'

/** Exit code after a second signal: 128 + SIGINT, as shells report it. */
const EXIT_INTERRUPTED = 130

/**
 * Aborts on SIGTERM, SIGINT and SIGHUP, and on the exit of a parent process that is connected by an IPC channel or is npm.
 * A second signal ends the process immediately, with exit code 130.
 * @param reasonOf returns the reason of the abort: by default the name of the signal, or a sentence if the parent process has
 *   exited
 */
export function listenForStop(reasonOf: (signal: string) => unknown = (signal) => signal): AbortSignal {
  const stop = new AbortController()
  const handleStop = (signal: string) => {
    if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED)
    stop.abort(reasonOf(signal))
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => handleStop(signal))
  const handleOrphaning = () => handleStop('The parent process has exited')
  process.once('disconnect', handleOrphaning)
  if (NPM_SCRIPTS.includes(process.env['npm_lifecycle_event'] ?? '')) onceOrphaned(handleOrphaning)
  // The listener would keep the channel open, and the channel would keep the process alive.
  process.channel?.unref()
  return stop.signal
}

/** The scripts of package.json that run this program, and `npx adamant`. */
const NPM_SCRIPTS = ['start', 'demo', 'npx']

const PARENT_CHECK_INTERVAL_MS = 500

/** npm sends its signals to the shell in between, which ends without passing them on. */
function onceOrphaned(handle: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    handle()
  }, PARENT_CHECK_INTERVAL_MS).unref()
}

/** Resolves with the name of the signal that stopped the process. @param signal from `listenForStop` */
export const untilStopped = (signal: AbortSignal): Promise<string> =>
  new Promise((done) => {
    if (signal.aborted) done(String(signal.reason))
    else signal.addEventListener('abort', () => done(String(signal.reason)))
  })

/** The failure of a stopped command that continues when it is run again. @param progress such as `500 of 1,200 stones` */
export const stoppedAfter = (progress: string): OperationFailure =>
  new OperationFailure(`Stopped after ${progress}; run the same command again to resume`)

/** Aborts an operation when the process is asked to stop; the reason is an OperationFailure. */
export const abortOnStop = (message: string): AbortSignal => listenForStop(() => new OperationFailure(message))

/**
 * Reports on stderr what the process was doing if it exits early: after a second signal, an uncaught exception, or because
 * its event loop is empty.
 */
export class UnexpectedExitReporter {
  #activity: string | undefined

  constructor(private readonly process: Pick<NodeJS.Process, 'on' | 'exitCode'> = globalThis.process) {
    this.process.on('exit', (code) => this.#reportExit(code))
  }

  /** @param activity completes the sentence "exited while …", such as `starting` */
  setActivity(activity: string): void {
    this.#activity = activity
  }

  /** From now on an exit is expected: the activity is done, or its failure has been reported. */
  clearActivity(): void {
    this.#activity = undefined
  }

  #reportExit(code: number): void {
    if (this.#activity === undefined) return
    // The event loop is empty, but the work has not ended: the exit code must not report success.
    if (code === 0) this.process.exitCode = EXIT_UNFINISHED
    note(`adamant exited with code ${code === 0 ? EXIT_UNFINISHED : code} while ${this.#activity}`)
  }
}

/** Exit code of an unfinished process, as Node.js uses it for an unsettled top-level await. */
const EXIT_UNFINISHED = 13
