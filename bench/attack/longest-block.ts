import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isForSecrets, longestRequests } from '../../test/api/harness/longest-requests.ts'
import { request, type Request } from '../../test/api/harness/request.ts'
import { startAdamant, type Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

/** Maximum CPU time in milliseconds for which one request may block the event loop. */
const TARGET_MS = 100

/** How often each request is sent; the longest block counts. */
const REPETITIONS = 5

/** Milliseconds to wait for work that a request leaves behind: projections, garbage collection. */
const SETTLING_MS = 100

/**
 * Preloaded into the service. On SIGUSR2 it writes the longest block of the event loop since the previous SIGUSR2, in
 * wall-clock time and in CPU time of the thread. The latter does not depend on other programs.
 */
const BLOCK_MONITOR = `
import { renameSync, writeFileSync } from 'node:fs'
const EVERY = 1
const file = process.env.LONGEST_BLOCK
const used = () => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}
let last = { at: performance.now(), used: used() }
let longest = { wallClockMs: 0, cpuMs: 0 }
setInterval(() => {
  const now = { at: performance.now(), used: used() }
  longest = {
    wallClockMs: Math.max(longest.wallClockMs, now.at - last.at - EVERY),
    cpuMs: Math.max(longest.cpuMs, now.used - last.used),
  }
  last = now
}, EVERY).unref()
process.on('SIGUSR2', () => {
  writeFileSync(file + '.new', JSON.stringify(longest))
  renameSync(file + '.new', file)
  longest = { wallClockMs: 0, cpuMs: 0 }
})`

/** Milliseconds. */
type BlockTime = { readonly wallClockMs: number; readonly cpuMs: number }
type RequestKind = {
  readonly name: string
  readonly send: () => Promise<string>
  /** Several concurrent requests, which have no target. */
  readonly isConcurrent?: true
}
type BlockResult = BlockTime & Pick<RequestKind, 'name' | 'isConcurrent'> & { readonly status: string }

const missesTarget = ({ cpuMs, isConcurrent }: BlockResult) => isConcurrent !== true && cpuMs > TARGET_MS

/**
 * Sends the worst request of each kind and prints how long each blocks the event loop. @returns whether all meet the
 * target
 */
export async function longestBlock(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-block-'))
  const file = join(folder, 'longest')
  const adamant = await startAdamant({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BLOCK_MONITOR)}`,
    LONGEST_BLOCK: file,
    RATE_LIMIT: '0',
  })
  try {
    const results: BlockResult[] = []
    for (const kind of await requestKinds(adamant)) results.push(await measureBlock(adamant.pid, file, kind))
    printResults(results)
    return !results.some(missesTarget)
  } finally {
    await adamant.stop()
    await rm(folder, { recursive: true })
  }
}

async function measureBlock(pid: number, file: string, { send, ...kind }: RequestKind): Promise<BlockResult> {
  let status = await send()
  const longest = { wallClockMs: 0, cpuMs: 0 }
  for (let time = 0; time < REPETITIONS; time++) {
    await takeLongestBlock(pid, file)
    status = await send()
    await pause(SETTLING_MS)
    const block = await takeLongestBlock(pid, file)
    longest.wallClockMs = Math.max(longest.wallClockMs, block.wallClockMs)
    longest.cpuMs = Math.max(longest.cpuMs, block.cpuMs)
  }
  process.stderr.write(`${kind.name}: ${longest.cpuMs.toFixed(1)} ms\n`)
  return { ...kind, status, ...longest }
}

async function takeLongestBlock(pid: number, file: string): Promise<BlockTime> {
  await rm(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text) as BlockTime
    await pause(2)
  }
}

/** Number of stones in the list and in bulk changes. */
const STONES = 2_000

async function requestKinds(adamant: Adamant): Promise<RequestKind[]> {
  const url = `http://127.0.0.1:${adamant.port}`
  const send = (spec: Request) => {
    const authorization = isForSecrets(spec) ? adamant.basic : `Bearer ${adamant.token}`
    return request(url, { ...spec, headers: { Authorization: authorization, ...spec.headers } })
  }
  const kind = (name: string, spec: Request): RequestKind => ({
    name,
    send: async () => String((await send(spec)).status),
  })
  const entries = stones(500)
  for (let created = 0; created < STONES; created += entries.length) {
    await send({ method: 'POST', path: '/v4/diamond/bulk', json: { entries } })
  }
  const list = (await send({ path: '/v4/diamond?limit=500' })).json() as { readonly id: number }[]
  const changes = list.map(({ id }, index) => ({ id, price: index }))
  const worst = longestRequests.map(([name, , make]) => kind(name, make()))
  return [
    { name: 'nothing', send: async () => '' },
    ...worst,
    kind('a list of 1,000 stones', { path: '/v4/diamond?limit=1000' }),
    kind('500 stones created', { method: 'POST', path: '/v4/diamond/bulk', json: { entries } }),
    kind('500 stones changed', { method: 'PATCH', path: '/v4/diamond/bulk', json: { entries: changes } }),
    { name: 'twenty concurrent bulks of unknown fields', send: () => sendTwentyBulks(send), isConcurrent: true },
  ]
}

async function sendTwentyBulks(send: (spec: Request) => Promise<{ readonly status: number }>): Promise<string> {
  const entries = Array.from({ length: 500 }, () =>
    Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`colour${index}x`, index])),
  )
  const spec = { method: 'POST', path: '/v4/diamond/bulk', json: { entries } }
  const responses = await Promise.all(Array.from({ length: 20 }, () => send(spec)))
  return [...new Set(responses.map(({ status }) => status))].join(', ')
}

function printResults(results: readonly BlockResult[]): void {
  console.log(`| request | status | CPU ms | target <= ${TARGET_MS} | wall-clock ms |\n| --- | --- | --- | --- | --- |`)
  for (const result of results) {
    const { name, status, cpuMs, wallClockMs } = result
    const verdict = result.isConcurrent === true ? 'none' : missesTarget(result) ? 'NO' : 'yes'
    console.log(`| ${name} | ${status} | ${cpuMs.toFixed(1)} | ${verdict} | ${wallClockMs.toFixed(1)} |`)
  }
  const single = results.filter(({ isConcurrent }) => isConcurrent !== true)
  console.log(
    `\nlongest event loop block of a single request: ${Math.max(...single.map(({ cpuMs }) => cpuMs)).toFixed(1)} ms`,
  )
}
