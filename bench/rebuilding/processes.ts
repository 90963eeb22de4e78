import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const bare = fileURLToPath(new URL('bare.ts', import.meta.url))

/** Number of events, seconds without the start of the process, and peak memory in MB. */
export type Gone = { readonly events: number; readonly seconds: number; readonly megabytes: number }

/** Runs `adamant rebuild diamonds`. */
export async function rebuilt(dataDir: string): Promise<Gone> {
  const { line, megabytes } = await run([main, 'rebuild', 'diamonds', '--json'], dataDir)
  const { models } = JSON.parse(line) as { models: { events: number; seconds: number }[] }
  const [{ events, seconds } = { events: 0, seconds: 0 }] = models
  return { events, seconds, megabytes }
}

/** Runs the upper limit (bare.ts) on the same log. @param id any stone */
export async function copiedBare(dataDir: string, id: number): Promise<Gone> {
  const { line, megabytes } = await run(['--import', 'tsx', bare, dataDir, String(id)], dataDir)
  return { ...(JSON.parse(line) as { events: number; seconds: number }), megabytes }
}

/** @throws if the exit code is not 0 */
async function run(words: readonly string[], dataDir: string): Promise<{ line: string; megabytes: number }> {
  const env = { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const watched = setInterval(() => (most = mostMemory(child) ?? most), 100)
  let most = 0
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watched)
  if (code !== 0) throw new Error(`${words.join(' ')} exited with code ${code}`)
  return { line: out.trim().split('\n').at(-1) ?? '', megabytes: most }
}

/** Linux: peak resident memory so far. Undefined after the process has ended. */
function mostMemory({ pid, exitCode }: ChildProcess): number | undefined {
  if (exitCode !== null) return undefined
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    // The process has just ended, or this is not Linux.
    return undefined
  }
}
