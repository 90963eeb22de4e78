import { mayHaveExecuted, describe, type Operation, type StoneOperation } from './operation.ts'
import { stoneHistoriesOf, type Observation, type StoneHistory, type Write } from './stone-histories.ts'

/** Descriptions of violations. */
type Violations = Iterable<string>

/** Each acknowledged stone exists exactly once, and no other stone exists. */
export function* stonesExistOnce(operations: readonly Operation[]): Violations {
  const histories = stoneHistoriesOf(operations)
  const skuOf = new Map<number, string>()
  for (const { sku, writes, observations } of histories.values()) {
    const ids = new Set(observations.map(({ shown }) => shown.id))
    if (ids.size > 1) yield `${sku} exists ${ids.size} times, as ${[...ids].join(', ')}`
    for (const id of ids) {
      const other = skuOf.get(id)
      if (other !== undefined) yield `${sku} and ${other} share the id ${id}`
      skuOf.set(id, sku)
    }
    const [observation] = observations
    if (observation !== undefined && !writes.some(mayHaveExecuted))
      yield `${sku} is in ${describe(observation.operation)}, but no create of it can have succeeded`
  }
  for (const list of operations)
    if (list.kind === 'list' && list.outcome === 'done') yield* listsEachOnce(list, histories)
}

function* listsEachOnce(
  list: StoneOperation & { kind: 'list' },
  histories: ReadonlyMap<string, StoneHistory>,
): Violations {
  const skus = new Set(list.shown.map(({ sku }) => sku))
  if (skus.size < list.shown.length) yield `${describe(list)} shows a stone twice`
  if (list.total !== list.shown.length)
    yield `${describe(list)} counts ${list.total} stones and shows ${list.shown.length}`
  if (list.sku !== undefined) return
  const whole = [...histories.values()]
  for (const history of whole) {
    if (mustExist(history, list) && !skus.has(history.sku))
      yield `${describe(list)} lacks ${history.sku}, which was acknowledged`
  }
  for (const bulk of new Set(
    whole.flatMap(({ writes: [write] }) => (write?.operation.kind === 'create' ? [write.operation] : [])),
  )) {
    yield* isCompleteOrMissing(bulk, skus)
  }
}

/** A bulk without a response was stored completely or not at all; no client can have deleted its stones. */
function* isCompleteOrMissing(bulk: StoneOperation & { kind: 'create' }, skus: ReadonlySet<string>): Violations {
  if (bulk.outcome !== 'unknown') return
  const stored = bulk.wanted.filter(({ sku }) => skus.has(sku)).length
  if (stored > 0 && stored < bulk.wanted.length)
    yield `${stored} of ${bulk.wanted.length} stones exist of ${describe(bulk)}`
}

/** Whether the stone must be visible to an operation: its create was acknowledged before, and no deletion can have happened. */
const mustExist = ({ writes, deletes }: StoneHistory, { startedAt, endedAt }: Operation): boolean =>
  writes.some(
    ({ operation, outcome, endedAt }) => operation.kind === 'create' && outcome === 'done' && endedAt < startedAt,
  ) && !deletes.some((deletion) => mayHaveExecuted(deletion) && deletion.startedAt < endedAt)

/** A read that begins after a write was acknowledged returns this write or a later one. */
export function* readsSeeWrites(operations: readonly Operation[]): Violations {
  for (const history of stoneHistoriesOf(operations).values()) {
    for (const miss of history.misses) {
      if (mustExist(history, miss)) yield `${describe(miss)} does not find ${history.sku}, which was acknowledged`
    }
    const deleted = history.deletes.filter(({ outcome }) => outcome === 'done')
    if (deleted.length > 1) yield `${history.sku} was deleted ${deleted.length} times`
    for (const observation of history.observations) {
      const deletion = deleted.find(({ endedAt }) => endedAt < observation.operation.startedAt)
      if (deletion !== undefined)
        yield `${describe(observation.operation)} shows ${history.sku} after ${describe(deletion)}`
      yield* showsLatestWrite(observation, history)
    }
  }
}

function* showsLatestWrite({ operation, shown }: Observation, { sku, writes }: StoneHistory): Violations {
  const seen = shown.revision ?? writes.find(({ price }) => price === shown.price)?.revision
  if (seen === undefined) return
  for (const { revision, outcome, endedAt, operation: write } of writes) {
    if (outcome === 'done' && revision !== undefined && endedAt < operation.startedAt && revision > seen) {
      yield `${describe(operation)} shows ${sku} at revision ${seen} after ${describe(write)} had revision ${revision}`
    }
  }
}

/** Each change has its own revision, above those acknowledged before it, and each revision has one value. */
export function* revisionsGrow(operations: readonly Operation[]): Violations {
  for (const { sku, writes, observations } of stoneHistoriesOf(operations).values()) {
    const done = writes.filter(({ outcome, revision }) => outcome === 'done' && revision !== undefined)
    yield* inOrder(sku, done)
    const priceAt = new Map(done.map(({ revision, price }) => [revision, price]))
    for (const { operation, shown } of observations) {
      const write = writes.find(({ price }) => price === shown.price)
      if (write === undefined || !mayHaveExecuted(write) || write.startedAt > operation.endedAt) {
        yield `${describe(operation)} shows ${sku} with ${shown.price}, which no client had written`
      }
      if (shown.revision === undefined) continue
      const knownPrice = priceAt.get(shown.revision)
      if (knownPrice !== undefined && knownPrice !== shown.price) {
        yield `${sku} has ${knownPrice} and ${shown.price} at revision ${shown.revision}, by ${describe(operation)}`
      }
      priceAt.set(shown.revision, shown.price)
    }
    const prices = [...priceAt.values()]
    if (new Set(prices).size < prices.length) yield `${sku} has one write at two revisions`
  }
}

function* inOrder(sku: string, done: readonly Write[]): Violations {
  let highest: Write | undefined
  const ended = done.toSorted((a, b) => a.endedAt - b.endedAt)
  let index = 0
  for (const write of done.toSorted((a, b) => a.startedAt - b.startedAt)) {
    for (let before = ended[index]; before !== undefined && before.endedAt < write.startedAt; before = ended[++index]) {
      if ((before.revision ?? 0) > (highest?.revision ?? -1)) highest = before
    }
    if (highest !== undefined && (write.revision ?? 0) <= (highest.revision ?? 0)) {
      yield `${sku} is at revision ${write.revision} by ${describe(write.operation)}, after ${describe(highest.operation)} had revision ${highest.revision}`
    }
  }
  const revisions = done.map(({ revision }) => revision)
  if (new Set(revisions).size < revisions.length) yield `${sku} has two acknowledged changes with one revision`
}

/** After the last write, all complete lists and all single reads agree. */
export function* listsAgree(operations: readonly Operation[]): Violations {
  const lastWriteEnd = operations.reduce((last, each) => (isWrite(each) ? Math.max(last, each.endedAt) : last), 0)
  const after = operations.filter(({ startedAt, outcome }) => startedAt > lastWriteEnd && outcome !== 'unknown')
  const lists = after.filter((each) => each.kind === 'list' && each.sku === undefined)
  const [first, ...others] = lists.map((each) => (each.kind === 'list' ? each : undefined))
  if (first === undefined) return
  const listed = new Map(first.shown.map((listedStone) => [listedStone.sku, listedStone]))
  for (const other of others) {
    if (other === undefined) continue
    for (const listedStone of other.shown) {
      if (listed.get(listedStone.sku)?.price !== listedStone.price)
        yield `${describe(other)} shows ${listedStone.sku} differently from ${describe(first)}`
    }
    if (other.shown.length !== first.shown.length)
      yield `${describe(other)} shows more or fewer stones than ${describe(first)}`
  }
  for (const read of after) {
    if (read.kind !== 'read') continue
    const listedStone = listed.get(read.sku)
    if (listedStone?.id !== read.shown?.id || listedStone?.price !== read.shown?.price) {
      yield `${describe(read)} shows ${read.sku} differently from ${describe(first)}`
    }
  }
}

const isWrite = ({ kind }: Operation): boolean => kind === 'create' || kind === 'change' || kind === 'delete'
