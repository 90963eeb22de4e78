/** Milliseconds of timer delay that are normal in a process that is not stalled. */
const TIMER_TOLERANCE_MS = 250

/**
 * Calls back after the given milliseconds unless cleared. If the process was stalled meanwhile (laptop asleep, virtual
 * machine migrated, container out of CPU quota), timers fire before data that has arrived is read. The deadline is then
 * extended by the delay, since the stall says nothing about the peer; to at most twice the time in total, so that an
 * overloaded process, which is always late, times out too.
 */
export class Deadline {
  #timer: NodeJS.Timeout

  constructor(
    private readonly onExpired: () => void,
    milliseconds: number,
  ) {
    this.#timer = this.#start(milliseconds, milliseconds)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #start(milliseconds: number, maxExtension: number): NodeJS.Timeout {
    const dueAt = performance.now() + milliseconds
    return setTimeout(() => {
      const delay = performance.now() - dueAt
      const extension = delay < TIMER_TOLERANCE_MS ? 0 : Math.min(delay, maxExtension)
      if (extension > 0) this.#timer = this.#start(extension, maxExtension - extension)
      else this.onExpired()
    }, milliseconds)
  }
}

/**
 * Waits for a promise for the given milliseconds; its work continues after a timeout.
 * @param onTimeout provides the result, or throws, after a timeout
 */
export async function withTimeout<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  onTimeout: () => Late,
): Promise<Result | Late> {
  let deadline: Deadline | undefined
  const expired = new Promise<void>((done) => (deadline = new Deadline(done, milliseconds)))
  try {
    return await Promise.race([work, expired.then(onTimeout)])
  } finally {
    deadline?.clear()
  }
}

/**
 * Waits until a promise has settled, for at most the given milliseconds. Ignores its rejection, which the caller must
 * handle.
 * @returns whether it has settled
 */
export function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const ended = () => true
  return withTimeout(milliseconds, work.then(ended, ended), () => false)
}
