import { ROW, SIZE_KEY } from '../../projections/tree/tree.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { Document, Stored } from '../../stores/ports/read-store.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'
import { checkSize, captureSize } from './tree-size.ts'
import { LeafComparison } from './tree-leaves.ts'
import { isContinued, REBUILD, type ComparingTree } from './tree-tiles.ts'

/** What the log's own tree is. `ok` where the live one is the same. */
export type TreeVerified = { readonly size: number; readonly root: string; readonly ok: boolean }

/**
 * Compares the live hash tree with the log, leaf by leaf, up to where it was when it began. Tiles of a tree that is written to only
 * get longer, so that nothing has to stand still. Where leaves differ, so do all hashes above them: only leaves are told then.
 */
export async function compareTree(comparing: ComparingTree): Promise<TreeVerified> {
  const { live, fresh, found } = comparing
  const before = found.count
  const captured = await captureSize(live)
  if (captured === undefined)
    found.add({ where: 'tree', what: 'the size of the tree is not what its checkpoint says', do: REBUILD })
  else await fresh.foldTo(captured.position)
  if (captured !== undefined) await checkSize(comparing, captured.stored)
  const leaves = new LeafComparison(comparing)
  for await (const page of fresh.build.walk()) {
    const stored = new Map((await live.load(page.map(idOf))).map((one) => [idOf(one), one]))
    for (const wanted of page) {
      const id = idOf(wanted)
      if (id === SIZE_KEY) continue
      if (id < ROW) await leaves.compare(wanted.document, stored.get(id))
      else if (leaves.areSame) tellRow(wanted.document, stored.get(id), found)
      if (leaves.areShifted) break
    }
    if (leaves.areShifted) break
  }
  return { ...(await rootOf(fresh)), ok: found.count === before }
}

/** What the tree of the log itself is, whether or not there is one to compare it with. */
export async function rootOf({ model }: FreshModel): Promise<Omit<TreeVerified, 'ok'>> {
  const queries = new TreeQueries(model)
  const size = await queries.size()
  return { size, root: (await queries.root(size)).toString('base64') }
}

function tellRow(wanted: Document, stored: Stored | undefined, found: Differences): void {
  const id = Number(wanted['id'])
  const where = `tree, row ${Math.floor(id / ROW)}, tile ${id % ROW}`
  if (stored === undefined) found.add({ where, what: 'is missing', do: REBUILD })
  else if (!isContinued(wanted, stored)) found.add({ where, what: 'is not the hash of the row below it', do: REBUILD })
}

const idOf = ({ document }: Stored): number => Number(document['id'])
