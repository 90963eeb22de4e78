import { OperationFailure } from '../maintenance/operation.ts'
import { note } from './output.ts'

/** Exit code after a second signal: 128 and the number of SIGINT, as shells report it. */
const EXIT_INTERRUPTED = 130

export type StopSignal = {
  readonly isReceived: boolean
  /** Resolves with what asked to stop. */
  readonly received: Promise<string>
}

/**
 * Listens for SIGTERM and SIGINT, and for the end of the process that started this one over an IPC channel.
 * A second signal ends the process at once.
 */
export function listenForStop(): StopSignal {
  let came = false
  const first = new Promise<string>((done) => {
    const ask = (signal: string) => {
      if (came) process.exit(EXIT_INTERRUPTED)
      came = true
      done(signal)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ask(signal))
    process.once('disconnect', () => ask('The parent process has ended'))
    // A listener keeps the channel, and the channel the process.
    process.channel?.unref()
  })
  return {
    get isReceived() {
      return came
    },
    received: first,
  }
}

/** Likewise, for an operation that is aborted then, and fails with this. */
export function abortOnStop(message: string): AbortSignal {
  const stop = new AbortController()
  void listenForStop().received.then(() => stop.abort(new OperationFailure(message)))
  return stop.signal
}

/**
 * Says on stderr what the process was doing when it ends before that was over: killed by a second signal, by a fault
 * that nobody caught, or because nothing was left that kept it alive.
 */
export class UnexpectedExitReporter {
  #activity: string | undefined

  constructor(private readonly process: Pick<NodeJS.Process, 'on' | 'exitCode'> = globalThis.process) {
    this.process.on('exit', (code) => this.#reportExit(code))
  }

  /** @param what such as `it was starting` */
  setActivity(what: string): void {
    this.#activity = what
  }

  /** What was to be done is done, or its failure has been told: the end is no surprise any more. */
  clearActivity(): void {
    this.#activity = undefined
  }

  #reportExit(code: number): void {
    if (this.#activity === undefined) return
    // The event loop is empty, but the work has not ended: the exit code must not report success.
    if (code === 0) this.process.exitCode = EXIT_UNFINISHED
    note(`adamant ended with exit code ${code === 0 ? EXIT_UNFINISHED : code} while ${this.#activity}`)
  }
}

/** Exit code of what ended by itself before it was done: as Node has it for an unsettled top-level await. */
const EXIT_UNFINISHED = 13
