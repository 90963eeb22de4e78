import { everyEvent } from '../../events/every-event.ts'
import type { Projection } from '../../projections/engine/read-model.ts'
import { tree } from '../../projections/tree/tree.ts'
import { openLog } from '../../runtime/log.ts'
import { comparePositions } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import { READ_MODELS } from '../../wiring/followers.ts'
import type { Installation } from '../../wiring/installation.ts'
import { withScratchModels } from '../../wiring/scratch-models.ts'
import { Failed, inStep, shareOf, waitForLease, type Operation } from '../operation.ts'
import { compareLive, compareLiveTree, follow, type Followed } from './compare-live.ts'
import type { TreeVerified } from './compare-tree.ts'
import { Differences, RESTORE, type Difference } from './differences.ts'
import { checkFiles } from './files.ts'
import { checkSignedRoots } from './signed-roots.ts'
import { StreamRules } from './stream-rules.ts'
import { checkVault, WaitingSecrets } from './vault.ts'

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
  /** Not looked at in a sample. */
  readonly vault: number | null
  readonly tree: TreeVerified
  /** How many documents of each model were chosen, in a sample. */
  readonly sample?: number
  readonly differences: readonly Difference[]
}

/** What was found, and how many differences there are in all. */
export type Verification = { readonly verified: Verified; readonly differences: number }

/** What the right to verify is kept as: nothing is stored in it. */
const VERIFYING: ModelDeclaration = { name: 'verifying', version: 1, fields: {}, texts: [], indexes: [], counts: [] }

/**
 * Holds everything that is made of the log, or belongs to it, to the log. A service may run and be written to meanwhile. One process at
 * a time does so: what one leaves behind that was killed is the next one's to clear away.
 * @throws Failed
 */
export async function verifyInstallation(operation: Operation, installation: Installation): Promise<Verification> {
  const lease = await waitForLease(installation.reads, VERIFYING, { signal: operation.signal })
  if (lease === undefined) throw new Failed('Another process is verifying: wait for its end')
  try {
    return await withScratchModels(installation.settings, (scratch) => verifyWith(operation, installation, scratch))
  } finally {
    await lease.release()
  }
}

async function verifyWith(operation: Operation, installation: Installation, scratch: ReadStore): Promise<Verification> {
  // What can't be folded is told as a difference.
  const silent = openLog('silent')
  const started = performance.now()
  const { store, vault, files } = installation
  const found = new Differences()
  const waiting = new WaitingSecrets()
  const followed: Followed[] = []
  for (const projection of COMPARED) followed.push(await follow(projection, installation, scratch, silent))
  const ofTree = await follow(tree, installation, scratch, silent)
  const rules = await verifyLog(operation, { store, models: [...followed, ofTree], waiting, found })
  const treeFound = await treeVerified(installation, ofTree, found)

  const models: Record<string, ModelVerified> = {}
  for (const model of followed) {
    operation.signal.throwIfAborted()
    const { name } = model.fresh.projection.declaration
    const before = found.count
    const documents = await compareLive(installation, model, rules.faulty, found)
    models[name] = { documents, differences: found.count - before }
  }
  const builds = new Map(followed.map(({ fresh }) => [fresh.projection.declaration.name, fresh.build]))
  const read = await checkFiles({ store, files, found }, async function* (model) {
    for await (const page of builds.get(model)?.walk([]) ?? []) yield page.map(({ document }) => document)
  })
  const inVault = await checkVault({ store, vault, waiting, found })
  for (const { fresh } of [...followed, ofTree]) await fresh.close()
  const seconds = (performance.now() - started) / 1000
  const { count: differences, listed } = found
  const looked = { events: rules.events, seconds, models, files: read, vault: inVault, tree: treeFound }
  return { verified: { ok: differences === 0, ...looked, differences: listed }, differences }
}

type Going = {
  readonly store: Installation['store']
  readonly models: readonly Followed[]
  readonly waiting: WaitingSecrets
  readonly found: Differences
}

/**
 * Goes through the whole log once: looks at every event, and folds it into the models.
 * @returns what held of the log's events
 */
async function verifyLog(operation: Operation, { store, models, waiting, found }: Going): Promise<StreamRules> {
  const rules = new StreamRules(found)
  const head = await store.head()
  const events = everyEvent(store, 'start', ({ event, message }) => {
    rules.pass(event)
    found.add({ where: `${event.stream}@${event.revision}`, what: message, do: RESTORE })
  })
  await inStep(operation, { label: 'verifying', total: undefined, unit: 'events' }, async (update) => {
    for await (const event of events) {
      rules.check(event)
      waiting.note(event)
      for (const { fresh, to } of models) {
        if (comparePositions(event.position, to) <= 0) await fresh.add(event)
      }
      update(rules.events, shareOf(event.position, head))
    }
    for (const { fresh } of models) await fresh.settle()
  })
  return rules
}

async function treeVerified(installation: Installation, tree: Followed, found: Differences): Promise<TreeVerified> {
  const compared = await compareLiveTree(installation, tree, found)
  const before = found.count
  await checkSignedRoots(installation, tree.fresh, found)
  return { ...compared, ok: compared.ok && found.count === before }
}
