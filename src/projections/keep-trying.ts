import type { Log } from '../log.ts'

/** After a store's fault: first pause and longest, in milliseconds. A store's fault is tried for ever. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** Something that runs until it is stopped, and is taken up again whenever it fails. */
export class KeptRunning {
  #stopped = false
  #wake: () => void = () => undefined
  #done: Promise<void> = Promise.resolve()

  constructor(
    private readonly name: string,
    private readonly log: Log,
    private readonly action: () => Promise<void>,
  ) {}

  get stopped(): boolean {
    return this.#stopped
  }

  start(): void {
    this.#done = this.#run()
  }

  /** Resolves when the action under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#done
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE
    while (!this.#stopped) {
      const started = performance.now()
      try {
        await this.action()
      } catch (error) {
        this.log.warn({ err: error, name: this.name }, 'interrupted; trying again')
      }
      if (performance.now() - started > LONGEST_PAUSE) pause = FIRST_PAUSE
      if (!this.#stopped) await this.#sleep(pause)
      pause = Math.min(pause * 2, LONGEST_PAUSE)
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  }
}
