import { fill } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'

const STONES = 100_000
const asks = [{ method: 'GET', path: '/v4/diamond' }]

/** The first page of 25, with its total. */
export const list: Group = { name: 'list', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  await fill(adamant, STONES)
  await fill(plain, STONES)
  return [
    {
      name: 'first list page among 100,000',
      unit: 'requests/s',
      ours: rateOf(bench, adamant, 20, asks),
      other: rateOf(bench, plain, 20, asks),
      target: { least: 20 },
    },
  ]
}
