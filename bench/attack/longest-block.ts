import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isForSecrets, longestRequests } from '../../test/api/harness/longest-requests.ts'
import { request, type Request } from '../../test/api/harness/request.ts'
import { startAdamant, type Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

/** Maximum CPU time in milliseconds for which one request may block the event loop. */
const TARGET = 100

/** How often each request is sent; the longest block counts. */
const TIMES = 5

/** Milliseconds to wait for work that a request leaves behind: projections, garbage collection. */
const AFTER = 100

/**
 * Preloaded into the service. On SIGUSR2 it writes the longest block of the event loop since the previous SIGUSR2, in
 * wall-clock time and in CPU time of the thread. The latter does not depend on other programs.
 */
const WATCH = `
import { renameSync, writeFileSync } from 'node:fs'
const EVERY = 1
const file = process.env.LONGEST_BLOCK
const used = () => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}
let last = { at: performance.now(), used: used() }
let longest = { clock: 0, processor: 0 }
setInterval(() => {
  const now = { at: performance.now(), used: used() }
  longest = {
    clock: Math.max(longest.clock, now.at - last.at - EVERY),
    processor: Math.max(longest.processor, now.used - last.used),
  }
  last = now
}, EVERY).unref()
process.on('SIGUSR2', () => {
  writeFileSync(file + '.new', JSON.stringify(longest))
  renameSync(file + '.new', file)
  longest = { clock: 0, processor: 0 }
})`

/** Milliseconds. */
type Held = { readonly clock: number; readonly processor: number }
type Kind = {
  readonly name: string
  readonly send: () => Promise<string>
  /** Several concurrent requests, which have no target. */
  readonly isMany?: true
}
type Line = Held & Pick<Kind, 'name' | 'isMany'> & { readonly answer: string }

const isMissed = ({ processor, isMany }: Line) => isMany !== true && processor > TARGET

/**
 * Sends the worst request of each kind and prints how long each blocks the event loop. @returns whether all meet the
 * target
 */
export async function longestBlock(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-block-'))
  const file = join(folder, 'longest')
  const adamant = await startAdamant({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}`,
    LONGEST_BLOCK: file,
    RATE_LIMIT: '0',
  })
  try {
    const lines: Line[] = []
    for (const kind of await kindsFor(adamant)) lines.push(await measured(adamant.pid, file, kind))
    print(lines)
    return !lines.some(isMissed)
  } finally {
    await adamant.stop()
    await rm(folder, { recursive: true })
  }
}

async function measured(pid: number, file: string, { send, ...kind }: Kind): Promise<Line> {
  let answer = await send()
  const longest = { clock: 0, processor: 0 }
  for (let time = 0; time < TIMES; time++) {
    await longestSince(pid, file)
    answer = await send()
    await pause(AFTER)
    const held = await longestSince(pid, file)
    longest.clock = Math.max(longest.clock, held.clock)
    longest.processor = Math.max(longest.processor, held.processor)
  }
  process.stderr.write(`${kind.name}: ${longest.processor.toFixed(1)} ms\n`)
  return { ...kind, answer, ...longest }
}

async function longestSince(pid: number, file: string): Promise<Held> {
  await rm(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const told = await readFile(file, 'utf8').catch(() => undefined)
    if (told !== undefined) return JSON.parse(told) as Held
    await pause(2)
  }
}

/** Number of stones in the list and in bulk changes. */
const LISTED = 2_000

async function kindsFor(adamant: Adamant): Promise<Kind[]> {
  const url = `http://127.0.0.1:${adamant.port}`
  const asked = (wanted: Request) => {
    const authorization = isForSecrets(wanted) ? adamant.basic : `Bearer ${adamant.token}`
    return request(url, { ...wanted, headers: { Authorization: authorization, ...wanted.headers } })
  }
  const kind = (name: string, wanted: Request): Kind => ({
    name,
    send: async () => String((await asked(wanted)).status),
  })
  const entries = stones(500)
  for (let made = 0; made < LISTED; made += entries.length) {
    await asked({ method: 'POST', path: '/v4/diamond/bulk', json: { entries } })
  }
  const list = (await asked({ path: '/v4/diamond?limit=500' })).json() as { readonly id: number }[]
  const changes = list.map(({ id }, at) => ({ id, price: at }))
  const worst = longestRequests.map(([name, , make]) => kind(name, make()))
  return [
    { name: 'nothing', send: async () => '' },
    ...worst,
    kind('a list of 1,000 stones', { path: '/v4/diamond?limit=1000' }),
    kind('500 stones created', { method: 'POST', path: '/v4/diamond/bulk', json: { entries } }),
    kind('500 stones changed', { method: 'PATCH', path: '/v4/diamond/bulk', json: { entries: changes } }),
    { name: 'twenty concurrent bulks of unknown fields', send: () => twenty(asked), isMany: true },
  ]
}

async function twenty(asked: (wanted: Request) => Promise<{ readonly status: number }>): Promise<string> {
  const entries = Array.from({ length: 500 }, () =>
    Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`colour${at}x`, at])),
  )
  const wanted = { method: 'POST', path: '/v4/diamond/bulk', json: { entries } }
  const answers = await Promise.all(Array.from({ length: 20 }, () => asked(wanted)))
  return [...new Set(answers.map(({ status }) => status))].join(', ')
}

function print(lines: readonly Line[]): void {
  console.log(`| request | status | CPU ms | target <= ${TARGET} | wall-clock ms |\n| --- | --- | --- | --- | --- |`)
  for (const line of lines) {
    const { name, answer, processor, clock } = line
    const holds = line.isMany === true ? 'none' : isMissed(line) ? 'NO' : 'yes'
    console.log(`| ${name} | ${answer} | ${processor.toFixed(1)} | ${holds} | ${clock.toFixed(1)} |`)
  }
  const single = lines.filter(({ isMany }) => isMany !== true)
  console.log(
    `\nlongest event loop block of a single request: ${Math.max(...single.map(({ processor }) => processor)).toFixed(1)} ms`,
  )
}
