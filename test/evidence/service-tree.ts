import * as assert from 'uvu/assert'
import { canonicalJson, toLeafEvent } from '../../src/evidence/hashes.ts'
import { TreeQueries } from '../../src/projections/tree/tree-queries.ts'
import { PolledProgress } from '../../src/projections/engine/progress.ts'
import { isLeaf, merkleTree } from '../../src/projections/tree/merkle-tree.ts'
import { comparePositions, type StoredEvent } from '../../src/stores/ports/event-store.ts'
import { openEvidence } from '../../src/wiring/evidence.ts'
import type { Installation } from '../../src/wiring/installation.ts'
import { all } from '../contract/event-store/given.ts'
import { until } from '../until.ts'
import { plainRoot } from './plain-tree.ts'

export const leafBytes = (event: StoredEvent) => Buffer.from(canonicalJson(toLeafEvent(event)))

/**
 * Waits until a running service's Merkle tree is up to date, and checks its root against one computed from the events.
 * @param leaves size of the returned tree; by default all leaves
 */
export async function verifiedServiceRoot(
  { store, reads }: Pick<Installation, 'store' | 'reads'>,
  leaves?: number,
): Promise<{ readonly size: number; readonly root: string }> {
  const head = await store.head()
  const model = await reads.model(merkleTree.declaration)
  await until('the tree', async () => comparePositions(await model.position(), head) >= 0)
  const queries = new TreeQueries(model)
  const treeSize = await queries.size()
  const events = (await all(store.readAll('start'))).filter(isLeaf).slice(0, treeSize)
  assert.is(events.length, treeSize)
  assert.equal(await queries.root(treeSize), plainRoot(events.map(leafBytes)))
  const size = leaves ?? treeSize
  return { size, root: (await queries.root(size)).toString('base64') }
}

/** Signs a checkpoint of the current log, as the service does every minute. */
export async function signNow(installation: Installation): Promise<void> {
  const model = await installation.reads.model(merkleTree.declaration)
  const { services } = await openEvidence(installation, { model, progress: new PolledProgress(model) })
  assert.ok(await services?.signer.sign(20_000))
}
