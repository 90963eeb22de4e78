import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { freePort } from '../free-port.ts'

/** A server that speaks MongoDB's wire protocol over SQLite files (main.go), in a process of its own. */
export type FerretDB = {
  /** mongodb://127.0.0.1:PORT/ */
  readonly address: string
  readonly port: number
  readonly pid: number
  /** As kill -9 and a power cut do. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** The program that .ci/run builds from main.go; undefined where nobody has built it. */
export const FERRETDB = process.env['FERRETDB_BIN']

/** Per cent by which its heap may grow between two collections: it reads whole collections, and is rid of them at once. */
const SELDOM_COLLECTED = '1000'

/**
 * @param folder where its files are; starting again on the same folder finds what was stored
 * @param port a free one unless given
 */
export async function startFerretDB(folder: string, port?: number): Promise<FerretDB> {
  if (FERRETDB === undefined) throw new Error('FERRETDB_BIN names no program')
  const child = spawn(FERRETDB, [folder, String(port ?? (await freePort()))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, GOGC: SELDOM_COLLECTED },
  })
  const ended = once(child, 'exit')
  // It ends with the tests, and keeps nobody from ending.
  const endWithUs = () => void child.kill('SIGKILL')
  process.once('exit', endWithUs)
  void ended.then(() => process.off('exit', endWithUs))
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
