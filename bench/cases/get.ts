import { fill, scored } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { proxied, type Ask } from '../request.ts'
import type { Service } from '../services/service.ts'

/** One diamond by id, a different one each time. */
export const getAmong = (stones: number): Group => ({
  name: 'get',
  long: false,
  prepare: (bench) => prepare(bench, stones),
})

export const get: Group = getAmong(5_000)

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const adamant = await bench.adamant()
  const ours = await filledWith(adamant, stones)
  await scored(adamant)
  const plain = await bench.plain()
  const other = await filledWith(plain, stones)
  const on = (name: string, as: (asks: readonly Ask[]) => readonly Ask[]): Case => ({
    name,
    unit: 'requests/s',
    ours: rateOf(bench, adamant, 20, as(ours)),
    other: rateOf(bench, plain, 20, as(other)),
    target: { least: 0.8 },
  })
  return [on('GET by id, 20 connections', (asks) => asks), on('GET by id, 20 connections, behind a proxy', proxied)]
}

/** @returns requests for the created stones */
async function filledWith(service: Service, stones: number): Promise<Ask[]> {
  const filled = await fill(service, stones)
  return filled.map(({ id }) => ({ method: 'GET', path: `/v4/diamond/${id}` }))
}
