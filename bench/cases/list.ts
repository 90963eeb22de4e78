import { fill, waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import { behindProxy, type BenchRequest } from '../request.ts'

const requests = [{ method: 'GET', path: '/v4/diamond' }]

/** The first page of 25 with the total. */
export const listGroup = (stones: number): CaseGroup => ({
  name: 'list',
  isLong: false,
  prepare: (bench) => prepare(bench, stones),
})

export const list: CaseGroup = listGroup(100_000)

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const [adamant, baseline] = [await bench.adamant(), await bench.baseline()]
  await fill(adamant, stones)
  await waitUntilScored(adamant)
  await fill(baseline, stones)
  await waitUntilScored(baseline)
  const caseFor = (suffix: string, requests: readonly BenchRequest[]): Case => ({
    name: `first list page among ${stones.toLocaleString('en')}${suffix}`,
    unit: 'requests/s',
    ours: measureRate(bench, adamant, 20, requests),
    baseline: measureRate(bench, baseline, 20, requests),
    target: { min: 8 },
  })
  return [caseFor('', requests), caseFor(', behind a proxy', behindProxy(requests))]
}
