/** Milliseconds by which the timers of a process that runs are not late. */
const TIMER_TOLERANCE_MS = 250

/**
 * Calls back when so many milliseconds have passed without `clear()`. Where the process did not run in a part of them (a
 * laptop slept, a virtual machine was moved, a container had used up its share of the processor), its timers come before
 * what has arrived meanwhile; it waits on for as long as it was late, since its own stall says nothing of whom it asked. In
 * all it waits for twice its time at most: a process with too much to do is late every time, and has to hear of silence too.
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

  #start(milliseconds: number, spare: number): NodeJS.Timeout {
    const due = performance.now() + milliseconds
    return setTimeout(() => {
      const late = performance.now() - due
      const more = late < TIMER_TOLERANCE_MS ? 0 : Math.min(late, spare)
      if (more > 0) this.#timer = this.#start(more, spare - more)
      else this.onExpired()
    }, milliseconds)
  }
}

/**
 * Waits for work for so many milliseconds; it goes on behind them.
 * @param late what comes then instead, or throws
 * @returns what the work does, or rejects so
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
 * Waits until work has ended, well or badly, but no longer than so many milliseconds. What goes wrong in it is for
 * whoever started it to tell.
 * @returns whether it has ended
 */
export function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const ended = () => true
  return withTimeout(milliseconds, work.then(ended, ended), () => false)
}
