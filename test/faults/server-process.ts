import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The real service in a process of its own. */
export type ServerProcess = {
  readonly url: string
  readonly pid: number
  /** All that it has said on stdout and stderr. */
  readonly said: () => string
  /** Ends it at once, as kill -9 and a power cut do, and resolves when it is gone. */
  kill(): Promise<void>
  /** Lets its clock jump ahead, where it was started with one that does. */
  jump(): void
  /** Ends it by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

const JUMPING_CLOCK = fileURLToPath(new URL('jumping-clock.ts', import.meta.url))

/** Resolves when it is ready; rejects with what it said when it ends before. */
export async function startServer(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', JUMPING_CLOCK, MAIN, 'serve', '--json'], {
    env: { ...process.env, LOG_LEVEL: 'trace', RATE_LIMIT: '0', ...settings, DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const ended = once(child, 'exit')
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => (said += `${line}\n`))
  const [line] = (await Promise.race([once(lines, 'line'), ended.then(() => [])])) as string[]
  if (line === undefined) throw new Error(`the service did not start: ${said}`)
  const { url } = JSON.parse(line) as { url: string }
  return {
    url,
    pid: child.pid ?? 0,
    said: () => said,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    jump: () => void child.kill('SIGUSR2'),
    async stop() {
      child.kill('SIGTERM')
      await ended
      return child.exitCode
    },
  }
}
