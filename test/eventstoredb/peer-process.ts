import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freeze, thaw } from '../freeze.ts'
import { FROM_SOURCE } from '../from-source.ts'

/** The peer in a separate process, which can be frozen. It ends with the process that started it. */
export type PeerProcess = {
  readonly url: string
  /** Stops the process: it does not respond, but its connections stay open. */
  freeze(): Promise<void>
  /** Resumes the process, which also handles the requests sent meanwhile. */
  thaw(): void
  /** Closes all connections and accepts no new ones. */
  down(): Promise<void>
  /** Accepts connections again, with the events stored before. */
  up(): Promise<void>
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('peer/main.ts', import.meta.url))

/** @returns once the peer listens @throws Error if it ends before */
export async function startPeerProcess(): Promise<PeerProcess> {
  const child = spawn(process.execPath, [...FROM_SOURCE, MAIN], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  // A frozen process does not notice that its parent ends.
  const killChild = () => void child.kill('SIGKILL')
  process.once('exit', killChild)
  void ended.then(() => process.off('exit', killChild))
  if (child.stdout === null) throw new Error('the peer has no stdout')
  const lines = createInterface({ input: child.stdout })
  const [url] = (await Promise.race([once(lines, 'line'), ended.then(() => [])])) as string[]
  const { pid } = child
  if (url === undefined || pid === undefined) throw new Error('the peer did not start')
  child.unref()
  child.channel?.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()

  async function send(command: 'down' | 'up'): Promise<void> {
    child.channel?.ref()
    const done = once(child, 'message')
    child.send(command)
    await done
    child.channel?.unref()
  }
  return {
    url,
    freeze: () => freeze(pid),
    thaw: () => thaw(pid),
    down: () => send('down'),
    up: () => send('up'),
    async stop() {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}
