import type { Log } from '../log.ts'
import { Nap } from '../nap.ts'

/** After a store's fault: first pause and longest, in milliseconds. A store's fault is tried for ever. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** Something that runs until it is stopped, and is taken up again whenever it fails. */
export class KeptRunning {
  #stopped = false
  readonly #nap = new Nap()
  #done: Promise<void> = Promise.resolve()

  constructor(
    private readonly name: string,
    private readonly log: Log,
    private readonly action: () => Promise<void>,
  ) {}

  get stopped(): boolean {
    return this.#stopped
  }

  /** Again, too, after a stop has resolved. */
  start(): void {
    this.#stopped = false
    this.#done = this.#run()
  }

  /** Resolves when the action under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#nap.wake()
    await this.#done
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE
    while (!this.#stopped) {
      const started = performance.now()
      try {
        await this.action()
      } catch (error) {
        if (!this.#stopped) this.log.warn({ err: error, name: this.name }, 'interrupted; trying again')
      }
      if (performance.now() - started > LONGEST_PAUSE) pause = FIRST_PAUSE
      if (!this.#stopped) await this.#nap.sleep(pause)
      pause = Math.min(pause * 2, LONGEST_PAUSE)
    }
  }
}
