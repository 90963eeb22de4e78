import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../freeze.ts'
import { FROM_SOURCE } from '../from-source.ts'

/** The peer in a process of its own, which can be stopped like a machine. It ends with the process that started it. */
export type PeerProcess = {
  readonly url: string
  /** From here on it answers nothing, and its connections stay open. */
  freeze(): Promise<void>
  /** It goes on, also with what was sent to it meanwhile. */
  thaw(): void
  /** Its connections end, and no new one is taken. */
  down(): Promise<void>
  /** Takes connections again; what was stored is there. */
  up(): Promise<void>
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('peer/main.ts', import.meta.url))

/** Resolves when it listens. @throws Error when it ends before */
export async function startPeerProcess(): Promise<PeerProcess> {
  const child = spawn(process.execPath, [...FROM_SOURCE, MAIN], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  // One that is frozen does not notice that its parent ends.
  const endWithUs = () => void child.kill('SIGKILL')
  process.once('exit', endWithUs)
  void ended.then(() => process.off('exit', endWithUs))
  if (child.stdout === null) throw new Error('the peer has no stdout')
  const lines = createInterface({ input: child.stdout })
  const [url] = (await Promise.race([once(lines, 'line'), ended.then(() => [])])) as string[]
  const { pid } = child
  if (url === undefined || pid === undefined) throw new Error('the peer did not start')
  child.unref()
  child.channel?.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()

  async function order(word: 'down' | 'up'): Promise<void> {
    child.channel?.ref()
    const done = once(child, 'message')
    child.send(word)
    await done
    child.channel?.unref()
  }
  return {
    url,
    freeze: () => freeze(pid),
    thaw: () => thaw(pid),
    down: () => order('down'),
    up: () => order('up'),
    async stop() {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}
