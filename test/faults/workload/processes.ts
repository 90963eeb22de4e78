import { readFileSync } from 'node:fs'
import type { Serving } from '../serving.ts'

/** The service processes of an installation, which faults may replace. */
export class Processes {
  readonly #running: Serving[] = []
  readonly #ended: Serving[] = []

  constructor(private readonly serve: () => Promise<Serving>) {}

  /** Starts the processes one after another, as operators do. */
  async start(count: number): Promise<void> {
    for (let at = 0; at < count; at++) this.#running.push(await this.serve())
  }

  get count(): number {
    return this.#running.length
  }

  /** The current or last addresses of the processes. */
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

  /** Kills a process with SIGKILL and restarts it. */
  async replace(index: number): Promise<void> {
    const process = this.at(index)
    await process.kill()
    this.#ended.push(process)
    this.#running[index] = await this.serve()
  }

  /** Resident memory of all processes in bytes. */
  memory(): number {
    return this.#running.reduce((sum, { pid }) => sum + residentBytes(pid), 0)
  }

  /** The output of all processes, including earlier ones. */
  output(): string {
    return [...this.#ended, ...this.#running].map((process) => `--- ${process.url}\n${process.output()}`).join('\n')
  }

  /** Sends SIGTERM to all processes. @returns their exit codes */
  stop(): Promise<(number | null)[]> {
    return Promise.all(this.#running.map((process) => process.stop()))
  }
}

/** Resident memory in bytes (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html); 0 without /proc. */
function residentBytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(found ?? 0) * 1024
  } catch {
    return 0
  }
}
