import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { SETTINGS } from '../../wiring/settings.ts'
import { Failed } from '../../maintenance/operation.ts'

/** The service in a process of its own, on a data folder of its own. */
export type DemoServer = {
  readonly url: string
  /** The most memory the process ever held, in bytes; undefined where the system does not tell. */
  peakMemory(): number | undefined
  /** Resolves with the exit code when it ended without being asked to. */
  readonly died: Promise<number | null>
  /** Runs another command beside the server. @returns its result */
  command(...words: string[]): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

/**
 * Starts `adamant serve` as its own process: its memory and its core are then the service's alone, as in production,
 * and the demo meets it as any client does. It leads its own process group, so that Ctrl-C reaches it only through us;
 * the IPC channel ends it should we die.
 */
export async function startServer(dataDir: string): Promise<DemoServer> {
  const env = demoEnvironment(dataDir, process.env)
  const child = spawn(process.execPath, adamant('serve', '--json'), {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const ready = await Promise.race([firstLine(child), ended.then(() => undefined)])
  if (ready === undefined) throw new Failed('The service did not start; what it said stands above')
  return {
    url: String(ready['url']),
    peakMemory: () => peakMemoryOf(child.pid),
    died: ended,
    command: (...words) => runCommand(env, words),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * What the service gets of this process's environment: all that is not a setting, and of those what says how the demo is
 * seen. Thousands of stones never go into the stores of somebody's real installation, and HOST is taken only as an
 * address or localhost: tcsh sets it to the machine's name.
 */
export function demoEnvironment(dataDir: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HOST = '', PORT, LOG_LEVEL } = environment
  const others = Object.entries(environment).filter(([name]) => !SETTINGS.includes(name))
  return {
    ...Object.fromEntries(others),
    ...((isIP(HOST) !== 0 || HOST === 'localhost') && { HOST }),
    DATA_DIR: dataDir,
    PORT: PORT || '0',
    LOG_LEVEL: LOG_LEVEL || 'warn',
  }
}

/** The arguments that run this very program, from the sources or built. */
const adamant = (...words: string[]) => [...process.execArgv, process.argv[1] ?? '', ...words]

async function firstLine(child: ChildProcess): Promise<Record<string, unknown> | undefined> {
  if (child.stdout === null) return undefined
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as Record<string, unknown>
  return undefined
}

async function runCommand(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, adamant(...words, '--json'), { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [result, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Failed(`adamant ${words[0]} ${words[1]} ended with exit code ${String(code)}`)
  return JSON.parse(result) as Record<string, unknown>
}

/** Linux's high-water mark, proc(5): VmHWM in KiB. */
function peakMemoryOf(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  } catch {
    return undefined
  }
}
