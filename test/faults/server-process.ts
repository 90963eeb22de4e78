import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { enginesFor } from '../engines.ts'
import { FROM_SOURCE } from '../from-source.ts'

/** The service in a separate process. */
export type ServerProcess = {
  readonly url: string
  readonly pid: number
  /** Its output on stdout and stderr so far. */
  readonly output: () => string
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
  /** Advances its clock by two minutes, if it was started with jumping-clock.ts. */
  jump(): void
  /** Sends SIGTERM. @returns the exit code */
  stop(): Promise<number | null>
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Arguments of Node: the sources, with a clock that jumps. */
const WITH_JUMPING_CLOCK = [...FROM_SOURCE, '--import', path('jumping-clock.ts'), path('../../src/main.ts')]
/** Arguments of Node: the built service, as users run it. */
export const BUILT = [path('../../dist/main.js')]
/** The built service with longer timeouts: 16 s for an append to EventStoreDB, 20 s for a request to MongoDB. */
export const PATIENT_SERVICE = [path('patient-service.js')]

/** Milliseconds within which the service must be ready. */
const READY = 120_000

/** Starts the service. @returns when it is ready @throws Error with its output if it ends before or is not ready in time */
export async function startServer(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  program: readonly string[] = WITH_JUMPING_CLOCK,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...program, 'serve', '--json'], {
    env: {
      ...process.env,
      ...(await enginesFor(dataDir)),
      LOG_LEVEL: 'trace',
      RATE_LIMIT: '0',
      ...settings,
      DATA_DIR: dataDir,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = once(child, 'exit')
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => (output += `${line}\n`))
  const late = once(lines, 'line', { signal: AbortSignal.timeout(READY) })
  const [line] = (await Promise.race([late.catch(() => []), ended.then(() => [])])) as string[]
  if (line === undefined) {
    child.kill('SIGKILL')
    throw new Error(`the service did not start: ${output}`)
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal)
    await ended
    return child.exitCode
  }

  return {
    url: (JSON.parse(line) as { url: string }).url,
    pid: child.pid ?? 0,
    output: () => output,
    kill: async () => void (await end('SIGKILL')),
    jump: () => void child.kill('SIGUSR2'),
    stop: () => end('SIGTERM'),
  }
}
