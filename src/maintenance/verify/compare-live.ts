import { setTimeout as pause } from 'node:timers/promises'
import { logLineage } from '../../events/lineage.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import type { AnyProjection } from '../../projections/engine/read-model.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  FieldValue,
  ReadModel,
  ReadModelLost,
  ReadStore,
  WhereClause,
} from '../../stores/ports/read-store.ts'
import { OperationFailure } from '../operation.ts'
import { compareModel } from './compare-model.ts'
import { compareTree, rootOf, type TreeVerification } from './compare-tree.ts'
import { Differences, RESTORE_REMEDY, toUnfoldableDifference, type VerificationDifference } from './differences.ts'
import { FreshModel } from './fresh-model.ts'

/**
 * A fresh fold of a read model, and the position up to which to fold it: that of the live build when the check started, or the
 * head of the log if there is no live build to compare.
 */
export type ModelComparison = {
  readonly fresh: FreshModel
  readonly upTo: PositionOrStart
  /** Why there is no live build to compare; undefined if there is. */
  readonly absence: LiveModelAbsence | undefined
}

/** `ahead of the log`: the build is of this log, but the log does not have the event of the build's checkpoint. */
type LiveModelAbsence = VerificationDifference & { readonly why: 'not built' | 'damaged' | 'ahead of the log' }

type ComparisonStores = { readonly store: EventStore; readonly reads: ReadStore }

/** `damage`: damaged files of read models. */
type StoresToCompare = ComparisonStores & { readonly scratch: ReadStore; readonly damage: readonly ReadModelLost[] }

/** Attempts to compare with a build that stays live, since a rebuild may switch to another one at any time. */
const MAX_ATTEMPTS = 5

/** @param log receives warnings about events that cannot be folded */
export async function openComparison(
  projection: AnyProjection,
  { store, reads, scratch, damage }: StoresToCompare,
  log: AppLogger,
): Promise<ModelComparison> {
  const { declaration } = projection
  const fresh = await FreshModel.open(projection, store, scratch, log)
  const livePosition = await (await reads.model(declaration)).position()
  const head = await store.head()
  const lost = damage.find(({ model }) => model === declaration.name)
  if (lost !== undefined) return { fresh, upTo: head, absence: describeDamage(lost) }
  if (livePosition === 'start')
    return { fresh, upTo: head, absence: describeAbsence(declaration.name, 'does not exist yet') }
  // `live()` creates a missing build.
  const checkpoint = await (await reads.live(declaration)).checkpoint()
  if (checkpoint === undefined || checkpoint.log !== (await logLineage(store))) {
    return {
      fresh,
      upTo: head,
      absence: describeAbsence(declaration.name, 'was built from another log, or from events that a restore removed'),
    }
  }
  if (await isCheckpointOfLog(store, checkpoint)) return { fresh, upTo: livePosition, absence: undefined }
  const where = String(checkpoint.event?.position.commit)
  const what = `the log does not have event ${checkpoint.event?.id} there, up to which ${declaration.name} was built`
  return { fresh, upTo: livePosition, absence: { where, what, do: RESTORE_REMEDY, why: 'ahead of the log' } }
}

const describeAbsence = (name: string, reason: string): LiveModelAbsence => ({
  where: name,
  what: `the read model ${name} ${reason}`,
  do: 'start the service, which builds it',
  why: 'not built',
})

const describeDamage = ({ model, file, what }: ReadModelLost): LiveModelAbsence => ({
  where: file,
  what,
  do: `start the service, which rebuilds it, or run adamant rebuild ${model}`,
  why: 'damaged',
})

/**
 * Compares the live build with the fresh fold: documents and stored counts.
 * @param faultyStreams streams with differences in the log itself
 * @returns the number of documents in the live build
 * @throws OperationFailure
 */
export async function compareLive(
  { store, reads }: ComparisonStores,
  { fresh, absence }: ModelComparison,
  faultyStreams: ReadonlySet<string>,
  differences: Differences,
): Promise<number> {
  if (absence === undefined)
    return compareWithStableBuild(reads, fresh, differences, async (live, attemptDifferences) => {
      const documents = await compareModel({
        store,
        live,
        fresh,
        faultyStreams,
        parkedStreams: await reportParkedStreams(live, fresh, faultyStreams, attemptDifferences),
        differences: attemptDifferences,
      })
      const model = await reads.model(fresh.projection.declaration)
      // If documents differ, the counts are bound to differ too; the same rebuild corrects both.
      if (attemptDifferences.count === 0) await compareCounts({ model, fresh, differences: attemptDifferences })
      return documents
    })
  await reportAbsence(fresh, absence, differences)
  return 0
}

/** Like `compareLive`, for the Merkle tree. @throws OperationFailure */
export async function compareLiveTree(
  { store, reads }: ComparisonStores,
  { fresh, absence }: ModelComparison,
  differences: Differences,
): Promise<TreeVerification> {
  if (absence === undefined)
    return compareWithStableBuild(reads, fresh, differences, (live, attemptDifferences) =>
      compareTree({ store, live, fresh, differences: attemptDifferences }),
    )
  const before = differences.count
  await reportAbsence(fresh, absence, differences)
  if (absence.why !== 'ahead of the log') return { ...(await rootOf(fresh)), ok: differences.count === before }
  const verification = await compareWithStableBuild(reads, fresh, differences, (live, attemptDifferences) =>
    compareTree({ store, live, fresh, differences: attemptDifferences }),
  )
  return { ...verification, ok: false }
}

/** Repeats the comparison until the build stays live throughout. */
async function compareWithStableBuild<Result>(
  reads: ReadStore,
  fresh: FreshModel,
  differences: Differences,
  compare: (live: ReadModelBuild, attemptDifferences: Differences) => Promise<Result>,
): Promise<Result> {
  const { declaration } = fresh.projection
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const live = await reads.live(declaration)
    const attemptDifferences = new Differences()
    const result = await runWhileLive(reads, fresh, live, () => compare(live, attemptDifferences))
    if (result === undefined) continue
    differences.merge(attemptDifferences)
    return result
  }
  throw new OperationFailure(`${declaration.name} was rebuilt ${MAX_ATTEMPTS} times during the check: run verify again`)
}

/** A live build that was not built yet is a difference only if the log has events for it. */
async function reportAbsence(
  { build }: FreshModel,
  { why, ...difference }: LiveModelAbsence,
  differences: Differences,
): Promise<void> {
  if (why !== 'not built' || (await hasDocuments(build))) differences.add(difference)
}

async function hasDocuments(build: ReadModelBuild): Promise<boolean> {
  for await (const page of build.scan([])) if (page.length > 0) return true
  return false
}

/** Undefined if another build became live meanwhile, since the compared one may have been deleted. */
async function runWhileLive<Result>(
  reads: ReadStore,
  { projection: { declaration } }: FreshModel,
  live: ReadModelBuild,
  compare: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await compare()
    return (await reads.isLive(declaration, live)) ? result : undefined
  } catch (error) {
    if (await reads.isLive(declaration, live)) throw error
    return undefined
  }
}

/**
 * Reports, once per stream, events that could not be folded: by the live model, or by this release during the check.
 * @returns the streams
 */
async function reportParkedStreams(
  live: ReadModelBuild,
  fresh: FreshModel,
  faultyStreams: ReadonlySet<string>,
  differences: Differences,
): Promise<ReadonlySet<string>> {
  const { name } = fresh.projection.declaration
  const parkedStreams = new Set<string>()
  for (const { stream, revision, type, reason } of await live.deadLetters()) {
    if (parkedStreams.has(stream)) continue
    parkedStreams.add(stream)
    const what = `${type} could not be folded into ${name}, and its stream is parked: ${reason}`
    differences.add({
      where: `${stream}@${revision}`,
      what,
      do: `run adamant dead-letters retry ${name} ${stream}`,
    })
  }
  for (const letter of await fresh.build.deadLetters()) {
    if (parkedStreams.has(letter.stream)) continue
    parkedStreams.add(letter.stream)
    // Differences of the event itself have been reported already.
    if (!faultyStreams.has(letter.stream)) differences.add(toUnfoldableDifference(name, letter))
  }
  return parkedStreams
}

type CountComparison = { readonly model: ReadModel; readonly fresh: FreshModel; readonly differences: Differences }

/** Reads until a count matches the model's position: MongoDB writes counts before documents. */
const MAX_COUNT_READS = 100
const RETRY_INTERVAL_MS = 10

/** Compares the stored counts of documents, which lists use as totals. */
async function compareCounts({ model, fresh, differences }: CountComparison): Promise<void> {
  const { name } = fresh.projection.declaration
  for (const where of await collectCountedValues(fresh)) {
    const mismatch = await findCountMismatch(model, fresh, where)
    if (mismatch === undefined) continue
    const values = Object.entries(where).map(([field, value]) => `${field} ${String(value)}`)
    const what = `the stored count of documents with ${values.join(', ')} must be ${mismatch.folded}, but is ${mismatch.live}`
    differences.add({ where: name, what, do: `run adamant rebuild ${name}` })
  }
}

/** Every combination of values by which documents are counted. */
async function collectCountedValues({ build, projection: { declaration } }: FreshModel): Promise<WhereClause[]> {
  const { counts } = declaration
  if (counts.length === 0) return []
  const clauses = new Map<string, WhereClause>()
  for await (const page of build.scan([])) {
    for (const { document } of page) {
      const values = counts.map((field): [string, FieldValue] => [field, document[field] ?? ''])
      clauses.set(JSON.stringify(values), Object.fromEntries(values))
    }
  }
  return [...clauses.values()]
}

type CountMismatch = { readonly live: number; readonly folded: number }

/** Undefined if the count is correct. */
async function findCountMismatch(
  model: ReadModel,
  fresh: FreshModel,
  where: WhereClause,
): Promise<CountMismatch | undefined> {
  let mismatch: CountMismatch | undefined
  for (let attempt = 0; attempt < MAX_COUNT_READS; attempt++) {
    const position = await model.position()
    const live = await model.count(where)
    if (comparePositions(position, await model.position()) === 0 && comparePositions(fresh.position, position) <= 0) {
      await fresh.foldTo(position)
      const folded = await fresh.model.count(where)
      if (live === folded) return undefined
      mismatch = { live, folded }
    }
    await pause(RETRY_INTERVAL_MS)
  }
  return mismatch
}
