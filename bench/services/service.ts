import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { SERVER_CORE, pinToCore } from '../cores.ts'

/** A service under test. `token` is an access token of the account that owns the stones. */
export type MeasuredService = {
  readonly port: number
  readonly token: string
  stop(): Promise<void>
}

/**
 * A port that was free just now. Another process could take it before the service listens; during a benchmark none
 * does.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The core of the services, or all. */
export type Cores = 'one' | 'all'

/**
 * Starts a Node program.
 * @param log file for stderr, to which services log requests
 */
export function startService(
  args: readonly string[],
  log: string,
  environment: NodeJS.ProcessEnv = {},
  cores: Cores = 'one',
): ChildProcess {
  const program = [process.execPath, ...args] as const
  const [command, ...rest] = cores === 'one' ? pinToCore(SERVER_CORE, program) : program
  const file = openSync(log, 'a')
  try {
    return spawn(command, rest, { stdio: ['ignore', 'pipe', file], env: { ...process.env, ...environment } })
  } finally {
    closeSync(file)
  }
}

/** CPU time of the process since its start, from its metrics. */
export async function cpuSeconds({ port }: MeasuredService): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

/** Sends SIGTERM and waits for the exit. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** @throws if the URL does not return 200 within 30 s, or the process exits */
export async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the service at ${url} exited with code ${child.exitCode}`)
    const response = await fetch(url).catch(() => undefined)
    if (response?.status === 200) return
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error(`${url} was not ready within 30 s`)
}
