import { fill } from '../fill.ts'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { rateOf } from '../rate.ts'
import type { Service } from '../services/service.ts'

const STONES = 5000

/** One diamond by its id, another one each time. */
export const get: Group = { name: 'get', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const ours = await reading(bench, await bench.adamant())
  const other = await reading(bench, await bench.plain())
  return [{ name: 'GET by id, 20 connections', unit: 'requests/s', ours, other, target: { least: 1.5 } }]
}

async function reading(bench: Bench, service: Service): Promise<Measurement> {
  const filled = await fill(service, STONES)
  return rateOf(
    bench,
    service,
    20,
    filled.map(({ id }) => ({ method: 'GET', path: `/v4/diamond/${id}` })),
  )
}
