import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const bare = fileURLToPath(new URL('bare.ts', import.meta.url))

/** Number of events, seconds without the start of the process, and peak memory in MB. */
export type ProcessResult = { readonly events: number; readonly seconds: number; readonly peakMegabytes: number }

/** Runs `adamant rebuild diamonds`. */
export async function runRebuild(dataDir: string): Promise<ProcessResult> {
  const { line, peakMegabytes } = await runProcess([main, 'rebuild', 'diamonds', '--json'], dataDir)
  const { models } = JSON.parse(line) as { models: { events: number; seconds: number }[] }
  const [{ events, seconds } = { events: 0, seconds: 0 }] = models
  return { events, seconds, peakMegabytes }
}

/** Runs the upper limit (bare.ts) on the same log. @param id any stone */
export async function runBareCopy(dataDir: string, id: number): Promise<ProcessResult> {
  const { line, peakMegabytes } = await runProcess(['--import', 'tsx', bare, dataDir, String(id)], dataDir)
  return { ...(JSON.parse(line) as { events: number; seconds: number }), peakMegabytes }
}

/** @throws if the exit code is not 0 */
async function runProcess(args: readonly string[], dataDir: string): Promise<{ line: string; peakMegabytes: number }> {
  const env = { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const polling = setInterval(() => (peakMegabytes = peakMemory(child) ?? peakMegabytes), 100)
  let peakMegabytes = 0
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(polling)
  if (code !== 0) throw new Error(`${args.join(' ')} exited with code ${code}`)
  return { line: output.trim().split('\n').at(-1) ?? '', peakMegabytes }
}

/** Linux: peak resident memory so far. Undefined after the process has ended. */
function peakMemory({ pid, exitCode }: ChildProcess): number | undefined {
  if (exitCode !== null) return undefined
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    // The process has just ended, or this is not Linux.
    return undefined
  }
}
