import type { Bench, Case, CaseGroup } from '../group.ts'
import { UNIQUE } from '../load/measure.ts'
import { measureRate } from '../rate.ts'
import { stones } from '../stones.ts'

/** Creates with a new Idempotency-Key each, against creates of the baseline, which has no idempotency keys. */
export const idempotency: CaseGroup = { name: 'idempotency', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, baselineService] = [await bench.adamant(), await bench.baseline()]
  const requests = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const requestsWithKey = requests.map((request) => ({ ...request, headers: { 'Idempotency-Key': `bench-${UNIQUE}` } }))
  const ours = measureRate(bench, adamant, 20, requestsWithKey)
  const baseline = measureRate(bench, baselineService, 20, requests)
  return [{ name: 'create with Idempotency-Key, 20 connections', unit: 'requests/s', ours, baseline }]
}
