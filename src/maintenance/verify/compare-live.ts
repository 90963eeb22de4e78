import { setTimeout as pause } from 'node:timers/promises'
import { logLineage } from '../../events/lineage.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import type { AnyProjection } from '../../projections/engine/read-model.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, FieldValue, ReadModel, ReadStore, WhereClause } from '../../stores/ports/read-store.ts'
import { OperationFailure } from '../operation.ts'
import { compareModel } from './compare-model.ts'
import { compareTree, rootOf, type TreeVerification } from './compare-tree.ts'
import { Differences, RESTORE_REMEDY, toUnfoldableDifference, type VerificationDifference } from './differences.ts'
import { FreshModel } from './fresh-model.ts'

/**
 * A read model folded anew, and how far: to where the live one was when the log began to be gone through, or to the log's head
 * where no live one can be compared with it.
 */
export type ModelComparison = {
  readonly fresh: FreshModel
  readonly upTo: PositionOrStart
  /** Why there is none to be compared; undefined where there is. */
  readonly absence: LiveModelAbsence | undefined
}

/** `isOurs`: it was made of this log, which has another event by now, or none, where it had come to. */
type LiveModelAbsence = VerificationDifference & { readonly isOfThisLog: boolean }

type ComparisonStores = { readonly store: EventStore; readonly reads: ReadStore }

/** A rebuild may switch to another build at any time: tries until one has stayed live. */
const TRIES = 5

/** @param log told what can't be folded */
export async function openComparison(
  projection: AnyProjection,
  { store, reads }: ComparisonStores,
  scratch: ReadStore,
  log: AppLogger,
): Promise<ModelComparison> {
  const { declaration } = projection
  const fresh = await FreshModel.open(projection, store, scratch, log)
  const to = await (await reads.model(declaration)).position()
  const head = await store.head()
  if (to === 'start') return { fresh, upTo: head, absence: describeAbsence(declaration.name, 'is not made yet') }
  // Asked only where there is one: asking makes one.
  const checkpoint = await (await reads.live(declaration)).checkpoint()
  if (checkpoint === undefined || checkpoint.log !== (await logLineage(store))) {
    return {
      fresh,
      upTo: head,
      absence: describeAbsence(declaration.name, 'is of another log, or of days that a restore took back'),
    }
  }
  if (await isCheckpointOfLog(store, checkpoint)) return { fresh, upTo: to, absence: undefined }
  const where = String(checkpoint.event?.position.commit)
  const what = `the log has another event there, or none, than ${checkpoint.event?.id}, which ${declaration.name} was made of`
  return { fresh, upTo: to, absence: { where, what, do: RESTORE_REMEDY, isOfThisLog: true } }
}

const describeAbsence = (name: string, why: string): LiveModelAbsence => ({
  where: name,
  what: `the read model ${name} ${why}`,
  do: 'start the service, which makes it',
  isOfThisLog: false,
})

/**
 * Compares what is live with what the log folds to, documents and the counts that are kept of them.
 * @param faulty streams of which something is wrong in the log itself
 * @returns how many documents the live build has
 * @throws Failed
 */
export async function compareLive(
  { store, reads }: ComparisonStores,
  { fresh, absence }: ModelComparison,
  faulty: ReadonlySet<string>,
  found: Differences,
): Promise<number> {
  if (absence === undefined)
    return compareWithStableBuild(reads, fresh, found, async (live, own) => {
      const documents = await compareModel({
        store,
        live,
        fresh,
        faulty,
        aside: await reportParkedStreams(live, fresh, faulty, own),
        found: own,
      })
      const model = await reads.model(fresh.projection.declaration)
      // Where documents differ, so do counts: those are made anew with them.
      if (own.count === 0) await compareCounts({ model, fresh, found: own })
      return documents
    })
  await reportAbsence(fresh, absence, found)
  return 0
}

/** Likewise of the log's hash tree. @throws Failed */
export async function compareLiveTree(
  { store, reads }: ComparisonStores,
  { fresh, absence }: ModelComparison,
  found: Differences,
): Promise<TreeVerification> {
  if (absence === undefined)
    return compareWithStableBuild(reads, fresh, found, (live, own) => compareTree({ store, live, fresh, found: own }))
  const before = found.count
  await reportAbsence(fresh, absence, found)
  if (!absence.isOfThisLog) return { ...(await rootOf(fresh)), ok: found.count === before }
  const compared = await compareWithStableBuild(reads, fresh, found, (live, own) =>
    compareTree({ store, live, fresh, found: own }),
  )
  return { ...compared, ok: false }
}

/** Compares with a build that is live all the while. */
async function compareWithStableBuild<Result>(
  reads: ReadStore,
  fresh: FreshModel,
  found: Differences,
  compare: (live: ReadModelBuild, own: Differences) => Promise<Result>,
): Promise<Result> {
  const { declaration } = fresh.projection
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const live = await reads.live(declaration)
    const own = new Differences()
    const result = await runWhileLive(reads, fresh, live, () => compare(live, own))
    if (result === undefined) continue
    found.merge(own)
    return result
  }
  throw new OperationFailure(`${declaration.name} was made anew again and again meanwhile: run it again`)
}

/** Nothing is missing where the log has nothing for it. */
async function reportAbsence(
  { build }: FreshModel,
  { isOfThisLog, ...difference }: LiveModelAbsence,
  found: Differences,
): Promise<void> {
  if (isOfThisLog || (await hasDocuments(build))) found.add(difference)
}

async function hasDocuments(build: ReadModelBuild): Promise<boolean> {
  for await (const page of build.scan([])) if (page.length > 0) return true
  return false
}

/** Undefined where another build was switched to meanwhile, and what was read may have been dropped. */
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
 * Tells, once a stream, what a model could not fold: the live one when it came to it, or this release now.
 * @returns the streams
 */
async function reportParkedStreams(
  live: ReadModelBuild,
  fresh: FreshModel,
  faulty: ReadonlySet<string>,
  found: Differences,
): Promise<ReadonlySet<string>> {
  const { name } = fresh.projection.declaration
  const parked = new Set<string>()
  for (const { stream, revision, type, reason } of await live.deadLetters()) {
    if (parked.has(stream)) continue
    parked.add(stream)
    const what = `${type} could not be folded into ${name}, and its stream is set aside: ${reason}`
    found.add({ where: `${stream}@${revision}`, what, do: `npx adamant dead-letters retry ${name} ${stream}` })
  }
  for (const letter of await fresh.build.deadLetters()) {
    if (parked.has(letter.stream)) continue
    parked.add(letter.stream)
    // What is wrong with the event itself was told of it.
    if (!faulty.has(letter.stream)) found.add(toUnfoldableDifference(name, letter))
  }
  return parked
}

type CountComparison = { readonly model: ReadModel; readonly fresh: FreshModel; readonly found: Differences }

/** Looks for a count that is that of the model's position, and milliseconds between two: MongoDB has counts before documents. */
const MAX_COUNT_READS = 100
const RETRY_INTERVAL_MS = 10

/** Compares the stored counts of documents, from which lists have their totals. */
async function compareCounts({ model, fresh, found }: CountComparison): Promise<void> {
  const { name } = fresh.projection.declaration
  for (const where of await collectCountedValues(fresh)) {
    const wrong = await findCountMismatch(model, fresh, where)
    if (wrong === undefined) continue
    const values = Object.entries(where).map(([field, value]) => `${field} ${String(value)}`)
    const what = `its count of documents with ${values.join(', ')} is ${wrong.live}, where there are ${wrong.folded}`
    found.add({ where: name, what, do: `npx adamant rebuild ${name}` })
  }
}

/** Every combination of values by which documents are counted. */
async function collectCountedValues({ build, projection: { declaration } }: FreshModel): Promise<WhereClause[]> {
  const { counts } = declaration
  if (counts.length === 0) return []
  const seen = new Map<string, WhereClause>()
  for await (const page of build.scan([])) {
    for (const { document } of page) {
      const values = counts.map((field): [string, FieldValue] => [field, document[field] ?? ''])
      seen.set(JSON.stringify(values), Object.fromEntries(values))
    }
  }
  return [...seen.values()]
}

type CountMismatch = { readonly live: number; readonly folded: number }

/** Undefined where the count is what it should be. */
async function findCountMismatch(
  model: ReadModel,
  fresh: FreshModel,
  where: WhereClause,
): Promise<CountMismatch | undefined> {
  let wrong: CountMismatch | undefined
  for (let look = 0; look < MAX_COUNT_READS; look++) {
    const position = await model.position()
    const live = await model.count(where)
    if (comparePositions(position, await model.position()) === 0 && comparePositions(fresh.position, position) <= 0) {
      await fresh.foldTo(position)
      const folded = await fresh.model.count(where)
      if (live === folded) return undefined
      wrong = { live, folded }
    }
    await pause(RETRY_INTERVAL_MS)
  }
  return wrong
}
