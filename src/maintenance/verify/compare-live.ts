import { setTimeout as pause } from 'node:timers/promises'
import { logLineage } from '../../events/lineage.ts'
import { isOfLog } from '../../projections/engine/checkpoint.ts'
import type { AnyProjection } from '../../projections/engine/read-model.ts'
import type { Log } from '../../runtime/log.ts'
import { comparePositions, type EventStore, type From } from '../../stores/ports/event-store.ts'
import type { Build, FieldValue, ReadModel, ReadStore, Where } from '../../stores/ports/read-store.ts'
import { Failed } from '../operation.ts'
import { compareModel } from './compare-model.ts'
import { compareTree, rootOf, type TreeVerified } from './compare-tree.ts'
import { Differences, RESTORE, unfoldable, type Difference } from './differences.ts'
import { FreshModel } from './fresh-model.ts'

/**
 * A read model folded anew, and how far: to where the live one was when the log began to be gone through, or to the log's head
 * where no live one can be compared with it.
 */
export type Followed = {
  readonly fresh: FreshModel
  readonly to: From
  /** Why there is none to be compared; undefined where there is. */
  readonly absent: Absent | undefined
}

/** `isOurs`: it was made of this log, which has another event by now, or none, where it had come to. */
type Absent = Difference & { readonly isOurs: boolean }

type Stores = { readonly store: EventStore; readonly reads: ReadStore }

/** A rebuild may switch to another build at any time: tries until one has stayed live. */
const TRIES = 5

/** @param log told what can't be folded */
export async function follow(
  projection: AnyProjection,
  { store, reads }: Stores,
  scratch: ReadStore,
  log: Log,
): Promise<Followed> {
  const { declaration } = projection
  const fresh = await FreshModel.open(projection, store, scratch, log)
  const to = await (await reads.model(declaration)).position()
  const head = await store.head()
  if (to === 'start') return { fresh, to: head, absent: absent(declaration.name, 'is not made yet') }
  // Asked only where there is one: asking makes one.
  const checkpoint = await (await reads.live(declaration)).checkpoint()
  if (checkpoint === undefined || checkpoint.log !== (await logLineage(store))) {
    return {
      fresh,
      to: head,
      absent: absent(declaration.name, 'is of another log, or of days that a restore took back'),
    }
  }
  if (await isOfLog(store, checkpoint)) return { fresh, to, absent: undefined }
  const where = String(checkpoint.event?.position.commit)
  const what = `the log has another event there, or none, than ${checkpoint.event?.id}, which ${declaration.name} was made of`
  return { fresh, to, absent: { where, what, do: RESTORE, isOurs: true } }
}

const absent = (name: string, why: string): Absent => ({
  where: name,
  what: `the read model ${name} ${why}`,
  do: 'start the service, which makes it',
  isOurs: false,
})

/**
 * Compares what is live with what the log folds to, documents and the counts that are kept of them.
 * @param faulty streams of which something is wrong in the log itself
 * @returns how many documents the live build has
 * @throws Failed
 */
export async function compareLive(
  { store, reads }: Stores,
  { fresh, absent }: Followed,
  faulty: ReadonlySet<string>,
  found: Differences,
): Promise<number> {
  if (absent === undefined)
    return withLive(reads, fresh, found, async (live, own) => {
      const documents = await compareModel({
        store,
        live,
        fresh,
        faulty,
        aside: await tellSetAside(live, fresh, faulty, own),
        found: own,
      })
      const model = await reads.model(fresh.projection.declaration)
      // Where documents differ, so do counts: those are made anew with them.
      if (own.count === 0) await compareCounts({ model, fresh, found: own })
      return documents
    })
  await tellAbsent(fresh, absent, found)
  return 0
}

/** Likewise of the log's hash tree. @throws Failed */
export async function compareLiveTree(
  { store, reads }: Stores,
  { fresh, absent }: Followed,
  found: Differences,
): Promise<TreeVerified> {
  if (absent === undefined)
    return withLive(reads, fresh, found, (live, own) => compareTree({ store, live, fresh, found: own }))
  const before = found.count
  await tellAbsent(fresh, absent, found)
  if (!absent.isOurs) return { ...(await rootOf(fresh)), ok: found.count === before }
  const compared = await withLive(reads, fresh, found, (live, own) => compareTree({ store, live, fresh, found: own }))
  return { ...compared, ok: false }
}

/** Compares with a build that is live all the while. */
async function withLive<Result>(
  reads: ReadStore,
  fresh: FreshModel,
  found: Differences,
  compare: (live: Build, own: Differences) => Promise<Result>,
): Promise<Result> {
  const { declaration } = fresh.projection
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const live = await reads.live(declaration)
    const own = new Differences()
    const result = await whileLive(reads, fresh, live, () => compare(live, own))
    if (result === undefined) continue
    found.take(own)
    return result
  }
  throw new Failed(`${declaration.name} was made anew again and again meanwhile: run it again`)
}

/** Nothing is missing where the log has nothing for it. */
async function tellAbsent({ build }: FreshModel, { isOurs, ...difference }: Absent, found: Differences): Promise<void> {
  if (isOurs || (await hasDocuments(build))) found.add(difference)
}

async function hasDocuments(build: Build): Promise<boolean> {
  for await (const page of build.walk([])) if (page.length > 0) return true
  return false
}

/** Undefined where another build was switched to meanwhile, and what was read may have been dropped. */
async function whileLive<Result>(
  reads: ReadStore,
  { projection: { declaration } }: FreshModel,
  live: Build,
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
async function tellSetAside(
  live: Build,
  fresh: FreshModel,
  faulty: ReadonlySet<string>,
  found: Differences,
): Promise<ReadonlySet<string>> {
  const { name } = fresh.projection.declaration
  const aside = new Set<string>()
  for (const { stream, revision, type, reason } of await live.deadLetters()) {
    if (aside.has(stream)) continue
    aside.add(stream)
    const what = `${type} could not be folded into ${name}, and its stream is set aside: ${reason}`
    found.add({ where: `${stream}@${revision}`, what, do: `npx adamant dead-letters retry ${name} ${stream}` })
  }
  for (const letter of await fresh.build.deadLetters()) {
    if (aside.has(letter.stream)) continue
    aside.add(letter.stream)
    // What is wrong with the event itself was told of it.
    if (!faulty.has(letter.stream)) found.add(unfoldable(name, letter))
  }
  return aside
}

type Counting = { readonly model: ReadModel; readonly fresh: FreshModel; readonly found: Differences }

/** Looks for a count that is that of the model's position, and milliseconds between two: MongoDB has counts before documents. */
const LOOKS = 100
const PAUSE = 10

/** Compares the stored counts of documents, from which lists have their totals. */
async function compareCounts({ model, fresh, found }: Counting): Promise<void> {
  const { name } = fresh.projection.declaration
  for (const where of await countedValues(fresh)) {
    const wrong = await wrongCount(model, fresh, where)
    if (wrong === undefined) continue
    const values = Object.entries(where).map(([field, value]) => `${field} ${String(value)}`)
    const what = `its count of documents with ${values.join(', ')} is ${wrong.live}, where there are ${wrong.folded}`
    found.add({ where: name, what, do: `npx adamant rebuild ${name}` })
  }
}

/** Every combination of values by which documents are counted. */
async function countedValues({ build, projection: { declaration } }: FreshModel): Promise<Where[]> {
  const { counts } = declaration
  if (counts.length === 0) return []
  const seen = new Map<string, Where>()
  for await (const page of build.walk([])) {
    for (const { document } of page) {
      const values = counts.map((field): [string, FieldValue] => [field, document[field] ?? ''])
      seen.set(JSON.stringify(values), Object.fromEntries(values))
    }
  }
  return [...seen.values()]
}

type Wrong = { readonly live: number; readonly folded: number }

/** Undefined where the count is what it should be. */
async function wrongCount(model: ReadModel, fresh: FreshModel, where: Where): Promise<Wrong | undefined> {
  let wrong: Wrong | undefined
  for (let look = 0; look < LOOKS; look++) {
    const position = await model.position()
    const live = await model.count(where)
    if (comparePositions(position, await model.position()) === 0 && comparePositions(fresh.position, position) <= 0) {
      await fresh.foldTo(position)
      const folded = await fresh.model.count(where)
      if (live === folded) return undefined
      wrong = { live, folded }
    }
    await pause(PAUSE)
  }
  return wrong
}
