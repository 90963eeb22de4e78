import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import { behindProxy, type BenchRequest } from '../request.ts'
import { stones } from '../stones.ts'

/** One diamond per request, durable before the response. */
export const create: CaseGroup = { name: 'create', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, baseline] = [await bench.adamant(), await bench.baseline()]
  const requests = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const caseFor = (
    connections: number,
    min: number | undefined,
    requests: readonly BenchRequest[],
    suffix = '',
  ): Case => ({
    name: `create, ${connections} connection${connections === 1 ? '' : 's'}${suffix}`,
    unit: 'requests/s',
    ours: measureRate(bench, adamant, connections, requests),
    baseline: measureRate(bench, baseline, connections, requests),
    ...(min !== undefined && { target: { min } }),
  })
  return [
    caseFor(20, 3, requests),
    caseFor(20, 3, behindProxy(requests), ', behind a proxy'),
    // Without any sync the ratio would be 0.76 to 0.83.
    caseFor(1, undefined, requests),
  ]
}
