import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { stones } from '../stones.ts'

const WITHOUT = new URL('../services/without-tree.js', import.meta.url).href

/** What the tree of the log costs a create: of the same service, with it and without. */
export const tree: Group = { name: 'tree', long: true, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const kept = await bench.adamant()
  const without = await bench.adamant({ NODE_OPTIONS: `--import=${WITHOUT}` })
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const on = (connections: number): Case => ({
    name: `create with the tree of the log, and without, ${connections} connection${connections === 1 ? '' : 's'}`,
    unit: 'requests/s',
    ours: rateOf(bench, kept, connections, asks),
    other: rateOf(bench, without, connections, asks),
    target: { least: 0.9 },
  })
  return [on(20), on(1)]
}
