import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { SERVER_CORE, pinned } from '../cores.ts'

/** A service under test, with an access token for the account whose stones it holds. */
export type Service = {
  readonly port: number
  readonly token: string
  stop(): Promise<void>
}

/** A free port. Nothing keeps it free until the service listens; nobody else hunts for ports during a run. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts a node program on the services' core.
 * @param log file that its stderr goes to: both services write a line there for each request
 */
export function startPinned(args: readonly string[], log: string, environment: NodeJS.ProcessEnv = {}): ChildProcess {
  const [command, ...rest] = pinned(SERVER_CORE, [process.execPath, ...args])
  const file = openSync(log, 'a')
  try {
    return spawn(command, rest, { stdio: ['ignore', 'pipe', file], env: { ...process.env, ...environment } })
  } finally {
    closeSync(file)
  }
}

/** Asks the process to end, and waits until it has. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = once(child, 'exit')
  child.kill('SIGTERM')
  await over
}

/** @throws when the path does not answer 200 within 30 s, or the process ends before */
export async function ready(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the service at ${url} ended with ${child.exitCode}`)
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.status === 200) return
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error(`${url} was not ready within 30 s`)
}
