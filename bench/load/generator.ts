import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Load, Measured } from './measure.ts'

type Message = { ready?: true; measured?: Measured; failed?: string }

/** The core of the services under test, and the core of the load. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** A load generator in a process of its own, on a core of its own. */
export class Generator {
  readonly #child: ChildProcess
  #unique = 1

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(): Promise<Generator> {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const child = spawn('taskset', ['-c', String(LOAD_CORE), process.execPath, '--import', 'tsx', main], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return new Generator(child)
  }

  /** @throws when an answer was not a success */
  async measure(load: Omit<Load, 'unique'>): Promise<Measured> {
    this.#child.send({ ...load, unique: this.#unique } satisfies Load)
    const [message] = (await once(this.#child, 'message')) as [Message]
    if (!message.measured) throw new Error(message.failed ?? 'the load generator answered nothing')
    this.#unique = message.measured.unique
    return message.measured
  }

  stop(): void {
    this.#child.disconnect()
  }
}
