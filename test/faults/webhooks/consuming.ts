import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { FROM_SOURCE } from '../../from-source.ts'
import { freePort } from '../../free-port.ts'

const PROGRAM = fileURLToPath(new URL('consumer.ts', import.meta.url))

export type Consumer = {
  readonly port: number
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

export async function startConsumer(file: string, previousPort?: number): Promise<Consumer> {
  const port = previousPort ?? (await freePort())
  const child = spawn(process.execPath, [...FROM_SOURCE, PROGRAM, file, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(createInterface({ input: child.stdout }), 'line')
  return {
    port,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

type Element = { readonly cursor: string; readonly id: number; readonly diamond: object | null }

/** A message that a consumer has stored. */
export type StoredMessage = { readonly id: string; readonly type: string; readonly data: Element }

/** The messages of a consumer in order, without the incomplete lines of killed ones, which were not acknowledged. */
export function readMessages(file: string): StoredMessage[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line) => {
    try {
      const { id, body } = JSON.parse(line) as { id: string; body: string }
      return [{ id, ...(JSON.parse(body) as Omit<StoredMessage, 'id'>) }]
    } catch (error) {
      if (error instanceof SyntaxError) return []
      throw error
    }
  })
}

/** The inventory by id that results from applying the messages. */
export function inventoryOf(messages: readonly StoredMessage[]): Map<number, object> {
  const stones = new Map<number, object>()
  for (const { data } of messages) {
    if (data.diamond === null) stones.delete(data.id)
    else stones.set(data.id, data.diamond)
  }
  return stones
}
