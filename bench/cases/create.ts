import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { proxied, type Ask } from '../request.ts'
import { stones } from '../stones.ts'

/** One diamond per request, durable before the response. */
export const create: Group = { name: 'create', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const on = (connections: number, least: number, asks: readonly Ask[], by = ''): Case => ({
    name: `create, ${connections} connection${connections === 1 ? '' : 's'}${by}`,
    unit: 'requests/s',
    ours: rateOf(bench, adamant, connections, asks),
    other: rateOf(bench, plain, connections, asks),
    target: { least },
  })
  return [on(20, 3, asks), on(20, 3, proxied(asks), ', behind a proxy'), on(1, 0.8, asks)]
}
