import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { stones } from '../stones.ts'

/** 500 stones per request. The baseline inserts them in one transaction. */
export const bulk: Group = { name: 'bulk', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  const asks = [{ method: 'POST', path: '/v4/diamond/bulk', json: JSON.stringify({ entries: stones(500) }) }]
  return [
    {
      name: 'bulk of 500',
      unit: 'requests/s',
      ours: rateOf(bench, adamant, 1, asks),
      other: rateOf(bench, plain, 1, asks),
      target: { least: 0.5 },
    },
  ]
}
