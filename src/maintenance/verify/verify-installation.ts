import { openLog } from '../../runtime/log.ts'
import type { ReadStore } from '../../stores/ports/read-store.ts'
import type { Projection } from '../../projections/engine/read-model.ts'
import { tree } from '../../projections/tree/tree.ts'
import { READ_MODELS } from '../../wiring/followers.ts'
import type { Installation } from '../../wiring/installation.ts'
import { Differences, type Difference } from './differences.ts'
import { checkFiles } from './files.ts'
import type { TreeVerified } from './compare-tree.ts'
import { compareLive, compareLiveTree, follow, type Followed } from './live-models.ts'
import { checkSignedRoots } from './signed-roots.ts'
import { checkVault, WaitingSecrets } from './vault.ts'
import { verifyLog } from './verify-log.ts'

/** What is compared document by document: those of the hash tree depend on how events were cut into batches. */
export const COMPARED = READ_MODELS.filter((model): model is Projection<unknown> => !('fold' in model))

export type ModelVerified = { readonly documents: number; readonly differences: number }

/** What was looked at, and what is not as it should be: all differences are counted, the first thousand listed. */
export type Verified = {
  readonly ok: boolean
  readonly events: number
  readonly seconds: number
  readonly models: Readonly<Record<string, ModelVerified>>
  readonly files: number
  readonly vault: number
  readonly tree: TreeVerified
  readonly differences: readonly Difference[]
}

/** Holds everything that is made of the log, or belongs to it, to the log. A service may run and be written to meanwhile. */
export async function verifyInstallation(
  installation: Installation,
  scratch: ReadStore,
  signal: AbortSignal,
): Promise<{ verified: Verified; differences: number }> {
  // What can't be folded is told as a difference.
  const silent = openLog('silent')
  const started = performance.now()
  const { store, vault, files } = installation
  const found = new Differences()
  const waiting = new WaitingSecrets()
  const followed: Followed[] = []
  for (const projection of COMPARED) followed.push(await follow(projection, installation, scratch, silent))
  const ofTree = await follow(tree, installation, scratch, silent)
  const rules = await verifyLog({ store, models: [...followed, ofTree], waiting, found, signal })
  const treeFound = await treeVerified(installation, ofTree, found)

  const models: Record<string, ModelVerified> = {}
  for (const model of followed) {
    signal.throwIfAborted()
    const { name } = model.fresh.projection.declaration
    const before = found.count
    const documents = await compareLive(installation, model, rules.faulty, found)
    models[name] = { documents, differences: found.count - before }
  }
  const builds = new Map(followed.map(({ fresh }) => [fresh.projection.declaration.name, fresh.build]))
  const checked = await checkFiles({ store, files, builds, found })
  const inVault = await checkVault({ store, vault, waiting, found })
  for (const { fresh } of [...followed, ofTree]) await fresh.close()
  const seconds = (performance.now() - started) / 1000
  const verified = {
    ok: found.count === 0,
    events: rules.events,
    seconds,
    models,
    files: checked,
    vault: inVault,
    tree: treeFound,
    differences: found.listed,
  }
  return { verified, differences: found.count }
}

async function treeVerified(installation: Installation, tree: Followed, found: Differences): Promise<TreeVerified> {
  const compared = await compareLiveTree(installation, tree, found)
  const before = found.count
  await checkSignedRoots(installation, tree.fresh, found)
  return { ...compared, ok: compared.ok && found.count === before }
}
