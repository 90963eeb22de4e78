import type { Bench, Case, Group } from '../group.ts'
import { UNIQUE } from '../load/measure.ts'
import { rateOf } from '../rate.ts'
import { stones } from '../stones.ts'

/** Creates with a new Idempotency-Key each, against creates of the baseline, which has no idempotency keys. */
export const idempotency: Group = { name: 'idempotency', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const keyed = asks.map((ask) => ({ ...ask, headers: { 'Idempotency-Key': `bench-${UNIQUE}` } }))
  const ours = rateOf(bench, adamant, 20, keyed)
  const other = rateOf(bench, plain, 20, asks)
  return [{ name: 'create with Idempotency-Key, 20 connections', unit: 'requests/s', ours, other }]
}
