import { note } from './output.ts'

/**
 * Says on stderr what the process was doing when it ends before that was over: killed by a second signal, by a fault
 * that nobody caught, or because nothing was left that kept it alive.
 */
export class LastWords {
  #doing: string | undefined

  constructor(private readonly process: Pick<NodeJS.Process, 'on' | 'exitCode'> = globalThis.process) {
    this.process.on('exit', (code) => this.#say(code))
  }

  /** @param what such as `it was starting` */
  now(what: string): void {
    this.#doing = what
  }

  /** What was to be done is done, or its failure has been told: the end is no surprise any more. */
  over(): void {
    this.#doing = undefined
  }

  #say(code: number): void {
    if (this.#doing === undefined) return
    // Nothing was left that could go on: whoever watches must not take that for success.
    if (code === 0) this.process.exitCode = UNFINISHED
    note(`adamant ended with exit code ${code === 0 ? UNFINISHED : code} while ${this.#doing}`)
  }
}

/** Exit code of what ended by itself before it was done: as Node has it for an unsettled top-level await. */
const UNFINISHED = 13
