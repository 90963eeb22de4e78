import { fill, scored } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { proxied, type Ask } from '../request.ts'

const asks = [{ method: 'GET', path: '/v4/diamond' }]

/** The first page of 25 with the total. */
export const listAmong = (stones: number): Group => ({
  name: 'list',
  long: false,
  prepare: (bench) => prepare(bench, stones),
})

export const list: Group = listAmong(100_000)

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  await fill(adamant, stones)
  await scored(adamant)
  await fill(plain, stones)
  const on = (by: string, asks: readonly Ask[]): Case => ({
    name: `first list page among ${stones.toLocaleString('en')}${by}`,
    unit: 'requests/s',
    ours: rateOf(bench, adamant, 20, asks),
    other: rateOf(bench, plain, 20, asks),
    target: { least: 8 },
  })
  return [on('', asks), on(', behind a proxy', proxied(asks))]
}
