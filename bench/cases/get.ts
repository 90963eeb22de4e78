import { fill, waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import { behindProxy, type BenchRequest } from '../request.ts'
import type { MeasuredService } from '../services/service.ts'

/** One diamond by id, a different one each time. */
export const getGroup = (stones: number): CaseGroup => ({
  name: 'get',
  isLong: false,
  prepare: (bench) => prepare(bench, stones),
})

export const get: CaseGroup = getGroup(5_000)

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const adamant = await bench.adamant()
  const ours = await getRequests(adamant, stones)
  await waitUntilScored(adamant)
  const baselineService = await bench.baseline()
  const baseline = await getRequests(baselineService, stones)
  await waitUntilScored(baselineService)
  const caseFor = (name: string, transform: (requests: readonly BenchRequest[]) => readonly BenchRequest[]): Case => ({
    name,
    unit: 'requests/s',
    ours: measureRate(bench, adamant, 20, transform(ours)),
    baseline: measureRate(bench, baselineService, 20, transform(baseline)),
    target: { min: 0.8 },
  })
  return [
    caseFor('GET by id, 20 connections', (requests) => requests),
    caseFor('GET by id, 20 connections, behind a proxy', behindProxy),
  ]
}

/** @returns requests for the created stones */
async function getRequests(service: MeasuredService, stones: number): Promise<BenchRequest[]> {
  const filled = await fill(service, stones)
  return filled.map(({ id }) => ({ method: 'GET', path: `/v4/diamond/${id}` }))
}
