import { Failed } from '../maintenance/operation.ts'

/** Exit code after a second signal: 128 and the number of SIGINT, as shells report it. */
const INTERRUPTED = 130

export type StopSignal = {
  readonly came: boolean
  /** Resolves with what asked to stop. */
  readonly first: Promise<string>
}

/**
 * Listens for SIGTERM and SIGINT, and for the end of the process that started this one over an IPC channel.
 * A second signal ends the process at once.
 */
export function listenForStop(): StopSignal {
  let came = false
  const first = new Promise<string>((done) => {
    const ask = (signal: string) => {
      if (came) process.exit(INTERRUPTED)
      came = true
      done(signal)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ask(signal))
    process.once('disconnect', () => ask('The parent process has ended'))
    // A listener keeps the channel, and the channel the process.
    process.channel?.unref()
  })
  return {
    get came() {
      return came
    },
    first,
  }
}

/** Likewise, for an operation that is aborted then, and fails with this. */
export function abortOnStop(message: string): AbortSignal {
  const stop = new AbortController()
  void listenForStop().first.then(() => stop.abort(new Failed(message)))
  return stop.signal
}
