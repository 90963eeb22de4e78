import { readFileSync } from 'node:fs'
import type { Serving } from '../serving.ts'

/** Two services beside each other, of which one or the other is away now and then. */
export class Processes {
  readonly #running: Serving[] = []
  readonly #ended: Serving[] = []

  constructor(private readonly serve: () => Promise<Serving>) {}

  /** One after another, as an operator does it. */
  async start(count: number): Promise<void> {
    for (let at = 0; at < count; at++) this.#running.push(await this.serve())
  }

  get count(): number {
    return this.#running.length
  }

  /** Where they are, or were last. */
  readonly urls = (): readonly [string, ...string[]] => {
    const [first, ...others] = this.#running.map(({ url }) => url)
    if (first === undefined) throw new Error('nothing was started')
    return [first, ...others]
  }

  at(index: number): Serving {
    const process = this.#running[index]
    if (process === undefined) throw new Error(`there is no process ${index}`)
    return process
  }

  /** Ends one as a power cut does, and starts it again. */
  async replace(index: number): Promise<void> {
    const process = this.at(index)
    await process.kill()
    this.#ended.push(process)
    this.#running[index] = await this.serve()
  }

  /** Bytes of memory that they have together. */
  memory(): number {
    return this.#running.reduce((sum, { pid }) => sum + residentBytes(pid), 0)
  }

  /** All that they and those before them have said. */
  said(): string {
    return [...this.#ended, ...this.#running].map((process) => `--- ${process.url}\n${process.said()}`).join('\n')
  }

  /** Asks all to end. @returns their exit codes */
  stop(): Promise<(number | null)[]> {
    return Promise.all(this.#running.map((process) => process.stop()))
  }
}

/** The resident set, https://man7.org/linux/man-pages/man5/proc_pid_status.5.html; 0 where there is no /proc. */
function residentBytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(found ?? 0) * 1024
  } catch {
    return 0
  }
}
