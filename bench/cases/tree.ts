import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import { stones } from '../stones.ts'

const WITHOUT = new URL('../services/without-tree.js', import.meta.url).href

/** The cost of the Merkle tree for creates: the same service with and without it. */
export const tree: Group = { name: 'tree', long: true, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const kept = await bench.adamant()
  const without = await bench.adamant({ NODE_OPTIONS: `--import=${WITHOUT}` })
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const on = (connections: number): Case => ({
    name: `create with the Merkle tree, against without, ${connections} connection${connections === 1 ? '' : 's'}`,
    unit: 'requests/s',
    ours: rateOf(bench, kept, connections, asks),
    other: rateOf(bench, without, connections, asks),
    target: { least: 0.9 },
  })
  return [on(20), on(1)]
}
