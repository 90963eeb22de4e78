import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { freePort } from '../free-port.ts'

/** A process that speaks MongoDB's wire protocol and stores its data in SQLite files (main.go). */
export type FerretDB = {
  /** mongodb://127.0.0.1:PORT/ */
  readonly address: string
  readonly port: number
  readonly pid: number
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** The path of the program that .ci/run builds from main.go; undefined if it was not built. */
export const FERRETDB = process.env['FERRETDB_BIN']

/** GOGC: percent by which the heap may grow between two garbage collections. FerretDB reads whole collections into short-lived memory. */
const GOGC_PERCENT = '1000'

/**
 * @param folder for the files of the server, which persist over restarts
 * @param port a free port by default
 */
export async function startFerretDB(folder: string, port?: number): Promise<FerretDB> {
  if (FERRETDB === undefined) throw new Error('FERRETDB_BIN is not set')
  const child = spawn(FERRETDB, [folder, String(port ?? (await freePort()))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, GOGC: GOGC_PERCENT },
  })
  const ended = once(child, 'exit')
  // The server ends with the tests and does not keep the process alive.
  const killChild = () => void child.kill('SIGKILL')
  process.once('exit', killChild)
  void ended.then(() => process.off('exit', killChild))
  const lines = createInterface({ input: child.stdout })
  const [address] = (await Promise.race([once(lines, 'line'), ended.then(() => [])])) as string[]
  if (address === undefined) throw new Error(`${FERRETDB} did not start`)
  child.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()
  const end = async (signal: NodeJS.Signals) => {
    child.ref()
    child.kill(signal)
    await ended
  }
  return {
    address,
    port: Number(new URL(address).port),
    pid: child.pid ?? 0,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
