import { fill, scored } from '../fill.ts'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { rateOf } from '../rate.ts'
import type { Service } from '../services/service.ts'

/** One diamond by its id, another one each time. */
export const getAmong = (stones: number): Group => ({
  name: 'get',
  long: false,
  prepare: (bench) => prepare(bench, stones),
})

export const get: Group = getAmong(5_000)

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const adamant = await bench.adamant()
  const ours = await reading(bench, adamant, stones)
  await scored(adamant)
  const other = await reading(bench, await bench.plain(), stones)
  return [{ name: 'GET by id, 20 connections', unit: 'requests/s', ours, other, target: { least: 1.5 } }]
}

async function reading(bench: Bench, service: Service, stones: number): Promise<Measurement> {
  const filled = await fill(service, stones)
  return rateOf(
    bench,
    service,
    20,
    filled.map(({ id }) => ({ method: 'GET', path: `/v4/diamond/${id}` })),
  )
}
