import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import { stones } from '../stones.ts'

const WITHOUT_TREE = new URL('../services/without-tree.js', import.meta.url).href

/** The cost of the Merkle tree for creates: the same service with and without it. */
export const tree: CaseGroup = { name: 'tree', isLong: true, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const withTree = await bench.adamant()
  const withoutTree = await bench.adamant({ NODE_OPTIONS: `--import=${WITHOUT_TREE}` })
  const requests = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const caseFor = (connections: number): Case => ({
    name: `create with the Merkle tree, against without, ${connections} connection${connections === 1 ? '' : 's'}`,
    unit: 'requests/s',
    ours: measureRate(bench, withTree, connections, requests),
    baseline: measureRate(bench, withoutTree, connections, requests),
    target: { min: 0.9 },
  })
  return [caseFor(20), caseFor(1)]
}
