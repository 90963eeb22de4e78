import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import { stones } from '../stones.ts'

/** 500 stones per request. The baseline inserts them in one transaction. */
export const bulk: CaseGroup = { name: 'bulk', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, baseline] = [await bench.adamant(), await bench.baseline()]
  const requests = [{ method: 'POST', path: '/v4/diamond/bulk', json: JSON.stringify({ entries: stones(500) }) }]
  return [
    {
      name: 'bulk of 500',
      unit: 'requests/s',
      ours: measureRate(bench, adamant, 1, requests),
      baseline: measureRate(bench, baseline, 1, requests),
      target: { min: 0.5 },
    },
  ]
}
