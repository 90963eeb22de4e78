import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LOAD_CORE, pinToCore } from '../cores.ts'
import type { Load, LoadResult } from './measure.ts'

type GeneratorMessage = { ready?: true; result?: LoadResult; failed?: string }

/** A load generator in a separate process on a separate core. */
export class LoadGenerator {
  readonly #child: ChildProcess
  #unique = 1

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(): Promise<LoadGenerator> {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const [command, ...rest] = pinToCore(LOAD_CORE, [process.execPath, '--import', 'tsx', main])
    const child = spawn(command, rest, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await nextMessage(child)
    return new LoadGenerator(child)
  }

  /** @throws if a response was unsuccessful */
  async measure(load: Omit<Load, 'unique'>): Promise<LoadResult> {
    this.#child.send({ ...load, unique: this.#unique } satisfies Load)
    const message = await nextMessage(this.#child)
    if (!message.result) throw new Error(message.failed ?? 'the load generator returned no result')
    this.#unique = message.result.unique
    return message.result
  }

  stop(): void {
    this.#child.disconnect()
  }
}

/** The child's next message. @throws if it exits instead */
async function nextMessage(child: ChildProcess): Promise<GeneratorMessage> {
  const listening = new AbortController()
  const { signal } = listening
  try {
    const exited = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the load generator ended')))
    const [message] = await Promise.race([once(child, 'message', { signal }), exited])
    return message as GeneratorMessage
  } finally {
    listening.abort()
  }
}
