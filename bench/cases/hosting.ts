import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { rateOf } from '../rate.ts'
import { end, freePort, startPinned } from '../services/service.ts'

/**
 * What hosting a GET costs, with nothing behind it but a fixed answer: ours, against Koa's own callback and against
 * @koa/router (docs/decisions/0044).
 */
export const hosting: Group = { name: 'hosting', long: false, prepare }

const main = fileURLToPath(new URL('../../.tmp/bench/bench/parts/main.js', import.meta.url))
const asks = [{ method: 'GET', path: '/v4/diamond/4711', headers: { Authorization: 'Bearer x' } }]

async function prepare(bench: Bench): Promise<Case[]> {
  const [ours, callback, router] = [
    await hosted(bench, 'ours'),
    await hosted(bench, 'callback'),
    await hosted(bench, 'router'),
  ]
  return [
    { name: "hosting a GET, against koa's callback()", unit: 'requests/s', ours, other: callback },
    { name: 'hosting a GET, against @koa/router', unit: 'requests/s', ours, other: router },
  ]
}

async function hosted(bench: Bench, kind: string): Promise<Measurement> {
  const port = await freePort()
  const child = startPinned([main, kind, String(port)])
  bench.finally(() => end(child))
  if (child.stdout === null) throw new Error('the server has no output')
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) })
  return rateOf(bench, { port }, 20, asks)
}
