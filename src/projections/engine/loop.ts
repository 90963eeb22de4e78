import { endsWithin } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { Interruption } from '../../runtime/outages.ts'
import { WakeablePause } from '../../runtime/wakeable-pause.ts'

/** After a store's fault: first pause and longest, in milliseconds. A store's fault is tried for ever. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** Milliseconds after which what runs without a fault counts as mended. Longer than a store's calls take to give up. */
const MENDED = 10_000

/** Milliseconds that a stop waits for the run under way, whatever that waits for. */
const STOP = 3_000

/**
 * One run of the work. It ends soon after its signal was aborted; what it leaves undone, the next run does, in this
 * process or another one. `done` where there is nothing left to run for.
 */
export type Round = (signal: AbortSignal) => Promise<void | 'done'>

export type LoopOptions = {
  /** Milliseconds between the end of a run and the next one; without it, runs follow each other but for a moment. */
  readonly every?: number
  /** Milliseconds that a stop waits for the run under way, unless 3 s. */
  readonly stop?: number
}

/** What it did since the process began. */
export type RunFigures = { readonly name: string; readonly runs: number; readonly failures: number }

/** The signal of what nothing stops. */
export const neverAborted = (): AbortSignal => new AbortController().signal

/** From a start to the stop behind it. */
type Life = { over: boolean; run: AbortController }

/**
 * Work that is done again and again until it is stopped: what follows the log, and is taken up again whenever it fails,
 * and what is done every few seconds. There is one run at a time, also after a stop that did not wait for the last one's
 * end, and each has a signal of its own: whatever was stopped can start again.
 */
export class Loop {
  readonly #pause = new WakeablePause()
  readonly #interruption: Interruption
  #life: Life | undefined
  #done: Promise<void> = Promise.resolve()
  #wanted = false
  #runs = 0
  #failures = 0

  constructor(
    private readonly name: string,
    private readonly log: Log,
    private readonly run: Round,
    private readonly options: LoopOptions = {},
  ) {
    this.#interruption = new Interruption(name, log)
  }

  get figures(): RunFigures {
    return { name: this.name, runs: this.#runs, failures: this.#failures }
  }

  /** Again, too, after a stop. */
  start(): void {
    if (this.#life !== undefined) return
    const life = { over: false, run: new AbortController() }
    this.#life = life
    this.#done = this.#done.then(() => this.#goOn(life))
  }

  /** Does not wait for its time: the next run begins now, or right behind the one under way. */
  wake(): void {
    this.#wanted = true
    this.#pause.wake()
  }

  /** Resolves when the run under way has ended, or after 3 s without that. */
  async stop(): Promise<void> {
    const life = this.#life
    this.#life = undefined
    if (life !== undefined) {
      life.over = true
      life.run.abort(new Stopped(this.name))
      this.#pause.wake()
    }
    const { stop = STOP } = this.options
    if (await endsWithin(this.#done, stop)) return
    this.log.warn({ name: this.name, milliseconds: stop }, 'did not end in time when it was stopped; not waited for')
  }

  async #goOn(life: Life): Promise<void> {
    let pause = FIRST_PAUSE
    while (!life.over) {
      this.#wanted = false
      const started = performance.now()
      const outcome = await this.#once(life)
      if (outcome === 'done') {
        if (this.#life === life) this.#life = undefined
        return
      }
      if (outcome === 'ended' || performance.now() - started > LONGEST_PAUSE) pause = FIRST_PAUSE
      const { every = 0 } = this.options
      const rest = outcome === 'ended' ? Math.max(every, FIRST_PAUSE) : Math.max(pause, Math.min(every, LONGEST_PAUSE))
      pause = Math.min(pause * 2, LONGEST_PAUSE)
      if (!life.over && !this.#wanted) await this.#pause.sleep(rest)
    }
  }

  async #once(life: Life): Promise<'done' | 'ended' | 'failed'> {
    life.run = new AbortController()
    const mended = setTimeout(() => this.#interruption.over(), MENDED)
    this.#runs++
    try {
      const outcome = await this.run(life.run.signal)
      this.#interruption.over()
      return outcome ?? 'ended'
    } catch (error) {
      if (life.over) return 'ended'
      this.#failures++
      this.#interruption.failed(error)
      return 'failed'
    } finally {
      clearTimeout(mended)
    }
  }
}

/** Ends a wait that the process, or this part of it, will not see the end of. */
class Stopped extends Error {
  override readonly name = 'Stopped'
  constructor(what: string) {
    super(`${what} was stopped`)
  }
}

/** Something that is done by the clock: expiry, sweeping, mail that is due. Every process with the role does it. */
export type Routine<Tools> = {
  /** Its counters are kept under it. */
  readonly name: string
  /** Milliseconds between the end of a round and the next one, unless it is woken before. */
  readonly every: number
  /** How many rounds may be under way at once; one unless told. */
  readonly lanes?: number
  /** Milliseconds that a stop waits for the rounds under way, unless 3 s. */
  readonly patience?: number
  /** One round. @param tools what it works with */
  readonly doing: (tools: Tools) => Round
  /** Done once behind the last round, when it is stopped. */
  readonly last?: (tools: Tools) => Promise<void>
}

/** Declares what is done by the clock. */
export const routine = <Tools>(declared: Routine<Tools>): Routine<Tools> => declared
