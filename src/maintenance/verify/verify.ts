import { readEveryEvent } from '../../events/read-every-event.ts'
import type { Projection } from '../../projections/engine/read-model.ts'
import { merkleTree } from '../../projections/tree/merkle-tree.ts'
import { createLogger } from '../../runtime/logger.ts'
import { comparePositions } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadModelLost, ReadStore } from '../../stores/ports/read-store.ts'
import { READ_MODELS, STORED_MODELS } from '../../wiring/consumers.ts'
import type { Installation } from '../../wiring/installation.ts'
import { withScratchModels } from '../../wiring/scratch-models.ts'
import { OperationFailure, runStep, shareOf, waitForLease, type Operation } from '../operation.ts'
import { compareLive, compareLiveTree, openComparison, type ModelComparison } from './compare-live.ts'
import type { TreeVerification } from './compare-tree.ts'
import { Differences, RESTORE_REMEDY, type VerificationDifference } from './differences.ts'
import { checkFiles } from './files.ts'
import { checkSignedRoots } from './signed-roots.ts'
import { StreamRules } from './stream-rules.ts'
import { checkVault, PendingSecrets } from './vault.ts'

/** Models that are compared document by document. The Merkle tree is not: its documents depend on how events were batched. */
export const COMPARED_MODELS = READ_MODELS.filter((model): model is Projection<unknown> => !('fold' in model))

export type ModelVerification = { readonly documents: number; readonly differences: number }

/** The result of `verify`. Lists the first thousand differences. */
export type VerificationReport = {
  readonly ok: boolean
  readonly events: number
  readonly seconds: number
  readonly models: Readonly<Record<string, ModelVerification>>
  readonly files: number
  /** Number of items; null for a sample, which does not check the vault. */
  readonly vault: number | null
  readonly tree: TreeVerification
  /** Requested number of documents per model, for a sample. */
  readonly sample?: number
  readonly differences: readonly VerificationDifference[]
}

/** `differences`: the number of all differences, listed or not. */
export type Verification = { readonly report: VerificationReport; readonly differences: number }

/** The name of the lease for `verify`; the model stores nothing. */
const VERIFICATION_LEASE: ModelDeclaration = {
  name: 'verifying',
  version: 1,
  fields: {},
  texts: [],
  indexes: [],
  counts: [],
}

/**
 * Checks the log, and compares the read models, files and vault with it. The service may keep running and accepting writes. Only one
 * process at a time may verify: it deletes the temporary files of a process that was killed.
 * @throws OperationFailure
 */
export async function verifyInstallation(operation: Operation, installation: Installation): Promise<Verification> {
  const lease = await waitForLease(installation.reads, VERIFICATION_LEASE, { signal: operation.signal })
  if (lease === undefined) throw new OperationFailure('Another process is running verify: wait until it has finished')
  try {
    return await withScratchModels(installation.settings, (scratch) =>
      verifyWithScratch(operation, installation, scratch),
    )
  } finally {
    await lease.release()
  }
}

async function verifyWithScratch(
  operation: Operation,
  installation: Installation,
  scratch: ReadStore,
): Promise<Verification> {
  // Events that cannot be folded are reported as differences instead.
  const silentLogger = createLogger('silent')
  const started = performance.now()
  const { store, reads, vault, files } = installation
  const differences = new Differences()
  const pendingSecrets = new PendingSecrets()
  const damage = await reads.findDamage(STORED_MODELS)
  const isReadModel = ({ model }: ReadModelLost) => READ_MODELS.some(({ declaration }) => declaration.name === model)
  for (const lost of damage.filter((one) => !isReadModel(one))) differences.add(toDamageDifference(lost))
  const stores = { store, reads, scratch, damage }
  const comparisons: ModelComparison[] = []
  for (const projection of COMPARED_MODELS) comparisons.push(await openComparison(projection, stores, silentLogger))
  const treeComparison = await openComparison(merkleTree, stores, silentLogger)
  const rules = await verifyLog(operation, {
    store,
    models: [...comparisons, treeComparison],
    pendingSecrets,
    differences,
  })
  const tree = await verifyTree(installation, treeComparison, differences)

  const models: Record<string, ModelVerification> = {}
  for (const model of comparisons) {
    operation.signal.throwIfAborted()
    const { name } = model.fresh.projection.declaration
    const before = differences.count
    const documents = await compareLive(installation, model, rules.faultyStreams, differences)
    models[name] = { documents, differences: differences.count - before }
  }
  const builds = new Map(comparisons.map(({ fresh }) => [fresh.projection.declaration.name, fresh.build]))
  const fileCount = await checkFiles({ store, files, differences }, async function* (model) {
    for await (const page of builds.get(model)?.scan([]) ?? []) yield page.map(({ document }) => document)
  })
  const vaultItemCount = await checkVault({ store, vault, pendingSecrets, differences })
  for (const { fresh } of [...comparisons, treeComparison]) await fresh.close()
  const seconds = (performance.now() - started) / 1000
  const { count: differenceCount, listed } = differences
  const totals = { events: rules.eventCount, seconds, models, files: fileCount, vault: vaultItemCount, tree }
  return { report: { ok: differenceCount === 0, ...totals, differences: listed }, differences: differenceCount }
}

/** A damaged file of a reaction's progress, or of the index of builds. */
const toDamageDifference = ({ file, what }: ReadModelLost): VerificationDifference => ({
  where: file,
  what,
  do: 'start the service, which makes a new one',
})

type LogVerification = {
  readonly store: Installation['store']
  readonly models: readonly ModelComparison[]
  readonly pendingSecrets: PendingSecrets
  readonly differences: Differences
}

/**
 * Reads the whole log once, checks every event, and folds it into the models.
 */
async function verifyLog(
  operation: Operation,
  { store, models, pendingSecrets, differences }: LogVerification,
): Promise<StreamRules> {
  const rules = new StreamRules(differences)
  const head = await store.head()
  const events = readEveryEvent(store, 'start', ({ event, message }) => {
    rules.skipDamaged(event)
    differences.add({ where: `${event.stream}@${event.revision}`, what: message, do: RESTORE_REMEDY })
  })
  await runStep(operation, { label: 'verifying', total: undefined, unit: 'events' }, async (update) => {
    for await (const event of events) {
      rules.check(event)
      pendingSecrets.apply(event)
      for (const { fresh, upTo } of models) {
        if (comparePositions(event.position, upTo) <= 0) await fresh.add(event)
      }
      update(rules.eventCount, shareOf(event.position, head))
    }
    for (const { fresh } of models) await fresh.foldPending()
  })
  return rules
}

async function verifyTree(
  installation: Installation,
  tree: ModelComparison,
  differences: Differences,
): Promise<TreeVerification> {
  const verification = await compareLiveTree(installation, tree, differences)
  const before = differences.count
  await checkSignedRoots(installation, tree.fresh, differences)
  return { ...verification, ok: verification.ok && differences.count === before }
}
