import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, pinned } from '../cores.ts'
import type { Load, Measured } from './measure.ts'

type Message = { ready?: true; measured?: Measured; failed?: string }

/** A load generator in a separate process on a separate core. */
export class Generator {
  readonly #child: ChildProcess
  #unique = 1

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(): Promise<Generator> {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const [command, ...rest] = pinned(LOAD_CORE, [process.execPath, '--import', 'tsx', main])
    const child = spawn(command, rest, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await answerOf(child)
    return new Generator(child)
  }

  /** @throws if a response was unsuccessful */
  async measure(load: Omit<Load, 'unique'>): Promise<Measured> {
    this.#child.send({ ...load, unique: this.#unique } satisfies Load)
    const message = await answerOf(this.#child)
    if (!message.measured) throw new Error(message.failed ?? 'the load generator returned no result')
    this.#unique = message.measured.unique
    return message.measured
  }

  stop(): void {
    this.#child.disconnect()
  }
}

/** The child's next message. @throws if it exits instead */
async function answerOf(child: ChildProcess): Promise<Message> {
  const wait = new AbortController()
  const { signal } = wait
  try {
    const over = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the load generator ended')))
    const [message] = await Promise.race([once(child, 'message', { signal }), over])
    return message as Message
  } finally {
    wait.abort()
  }
}
