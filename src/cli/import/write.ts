import { finishBulk } from '../../commands/bulk/handle-bulk.ts'
import { requestStream } from '../../commands/bulk/request-record.ts'
import { latestPosition } from '../../commands/core/append.ts'
import type { CommandContext } from '../../commands/core/handle.ts'
import { changeStock, AlreadyApplied } from '../../commands/diamonds/change-stock.ts'
import {
  decideChanges,
  planDelete,
  planPatch,
  type CommandPrincipal,
  type DiamondChange,
  type DiamondCommandContext,
} from '../../commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../commands/installation/id-allocator.ts'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondDecider, diamondStream } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { formatCount, progressBar } from '../output.ts'
import type { StopSignal } from '../process-exit.ts'
import { toNewDiamond, type UsableLine } from './findings.ts'
import type { Stock } from './stock.ts'

/** Stones that are written together, all or none. */
export const BULK_SIZE = 500

/** The record of an import's bulk, counted from 0. */
const recordOf = (id: string, bulk: number): string => requestStream('import', id, bulk)

/** What a bulk was found to have done: the diamonds, and when (ISO 8601). */
export type DoneBulk = { readonly diamonds: readonly number[]; readonly at: string }

/** What was done under a record; one that was accepted and not done is finished first. Undefined where there is none. */
export async function finishAndReadBulk(writing: CommandContext, record: string): Promise<DoneBulk | undefined> {
  await finishBulk(writing, record)
  const [last] = await writing.store.read(record, { last: 1 })
  if (last?.type !== 'RequestDone') return undefined
  return { diamonds: decode<RequestDone>(last).data.diamonds, at: last.metadata['at'] ?? '' }
}

/** What an import has done, bulk by bulk. */
export async function* doneBulks(writing: CommandContext, id: string): AsyncGenerator<DoneBulk> {
  for (let bulk = 0; ; bulk++) {
    const done = await finishAndReadBulk(writing, recordOf(id, bulk))
    if (done === undefined) return
    yield done
  }
}

/** Where an import of new stones begins. */
export type ImportResumePoint = {
  readonly id: string
  /** Bulks that an earlier run has written. */
  readonly completedBulks: number
  /** When the last of them was, ISO 8601; undefined without one. */
  readonly lastWrittenAt: string | undefined
}

/**
 * Whether this very file was imported before, or was begun to be: the import's id is made of the account and the file, so
 * that a run that was killed is found by the next one. Where none of its stones is left, it counts no more.
 * @param digest of the file and what was read of it
 * @param bulks of the whole import
 * @param again a whole one counts no more either
 */
export async function findResumePoint(
  writing: CommandContext,
  { account, digest, bulks, again }: { account: number; digest: string; bulks: number; again: boolean },
): Promise<ImportResumePoint> {
  for (let time = 1; ; time++) {
    const id = eventId(`import/${account}/${digest}/${BULK_SIZE}`, time)
    let at: string | undefined
    let done = 0
    let isAnyLive = false
    for await (const bulk of doneBulks(writing, id)) {
      done++
      at = bulk.at
      isAnyLive ||= await isAnyDiamondLive(writing, bulk.diamonds)
    }
    if (done === 0 || (isAnyLive && !(again && done >= bulks))) return { id, completedBulks: done, lastWrittenAt: at }
  }
}

async function isAnyDiamondLive({ store, stateCache }: CommandContext, diamonds: readonly number[]): Promise<boolean> {
  for (const id of diamonds) {
    const { state } = await stateCache.load(store, diamondStream(id), diamondDecider)
    if (state.status === 'live') return true
  }
  return false
}

/** What was done, or would be, in stones. */
export type ImportCounts = {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly deleted: number
}

/** One step of an import: stones that go together, as many as a bulk has or fewer. */
export type ImportBulk = {
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
  /** Whether the changes take the diamonds away. */
  readonly isDeletion: boolean
  /** The line of the file that it ends with. */
  readonly line?: number
}

/** The steps that make new stones of all lines. */
export async function* planCreations(lines: AsyncIterable<UsableLine>): AsyncGenerator<ImportBulk> {
  for await (const bulk of bulksOf(lines)) {
    yield { creates: bulk.map(({ change }) => toNewDiamond(change)), changes: [], isDeletion: false, ...lastOf(bulk) }
  }
}

/** The steps that make an account's stones what the lines say of their skus. */
export async function* planUpdates(
  lines: AsyncIterable<UsableLine>,
  stock: Stock,
  by: CommandPrincipal,
): AsyncGenerator<ImportBulk> {
  for await (const bulk of bulksOf(lines)) {
    const creates: NewDiamond[] = []
    const changes: DiamondChange[] = []
    for (const { change } of bulk) {
      const [id] = stock.bySku(change.set.sku ?? '')
      if (id === undefined) creates.push(toNewDiamond(change))
      else changes.push(planPatch(id, change, by))
    }
    yield { creates, changes, isDeletion: false, ...lastOf(bulk) }
  }
}

/** The steps that delete stones. */
export function* planDeletions(ids: readonly number[], by: CommandPrincipal): Generator<ImportBulk> {
  for (let from = 0; from < ids.length; from += BULK_SIZE) {
    const changes = ids.slice(from, from + BULK_SIZE).map((id) => planDelete(id, by))
    yield { creates: [], changes, isDeletion: true }
  }
}

const lastOf = (bulk: readonly UsableLine[]) => {
  const line = bulk.at(-1)?.line
  return line === undefined ? {} : { line }
}

async function* bulksOf(lines: AsyncIterable<UsableLine>): AsyncGenerator<UsableLine[]> {
  let bulk: UsableLine[] = []
  for await (const line of lines) {
    bulk.push(line)
    if (bulk.length < BULK_SIZE) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

export type ImportBulks = AsyncIterable<ImportBulk> | Iterable<ImportBulk>

/** What the steps would do, without doing it. */
export async function countChanges(
  installation: { readonly writing: CommandContext },
  by: CommandPrincipal,
  steps: ImportBulks,
): Promise<ImportCounts> {
  const counter = new ImportCounter()
  for await (const step of steps) {
    const { decisions } = await decideChanges(installation.writing, by, step.changes)
    const changed = decisions.filter(({ events }) => events.length > 0).length
    counter.add(step, { created: step.creates.length, changed })
  }
  return counter.counts
}

export type ImportRun = {
  readonly installation: { readonly writing: CommandContext }
  readonly by: CommandPrincipal
  /** The import's, of which its records are made. */
  readonly id: string
  /** Steps that an earlier run has done: they are passed over. */
  readonly completedBulks: number
  /** Stones of all steps. */
  readonly total: number
  readonly signal: StopSignal
}

/** Takes the steps, one after another. @throws Failed where it was stopped, or another process does the same */
export async function writeBulks(
  { installation, by, id, completedBulks, total, signal }: ImportRun,
  steps: ImportBulks,
): Promise<ImportCounts & { readonly position: Position | undefined }> {
  const inventory = inventoryOf(installation, by)
  const counter = new ImportCounter()
  const bar = progressBar('importing', total, 'stones')
  let position: Position | undefined
  let record = 0
  for await (const step of steps) {
    if (record < completedBulks) {
      record++
      counter.skip(step)
    } else {
      const did = await writeBulk(inventory, by, { ...step, record: recordOf(id, record) })
      if (did.position !== undefined) record++
      position = latestPosition([position, did.position])
      counter.add(step, did)
    }
    bar.update(counter.total)
    throwIfStopped(signal, counter, total, step)
  }
  bar.end()
  return { ...counter.counts, position }
}

export const inventoryOf = (
  { writing }: { readonly writing: CommandContext },
  { origin }: CommandPrincipal,
): DiamondCommandContext => {
  return { ...writing, diamondIds: new IdAllocator({ ...writing, kind: 'diamond', size: BULK_SIZE, origin }) }
}

async function writeBulk(
  inventory: DiamondCommandContext,
  by: CommandPrincipal,
  step: ImportBulk & { readonly record: string },
) {
  try {
    return await changeStock(inventory, by, step)
  } catch (error) {
    if (!(error instanceof AlreadyApplied)) throw error
    throw new OperationFailure(
      'Another process imports the very same stones: nothing was done twice; run it again to see the end',
    )
  }
}

class ImportCounter {
  #counts = { created: 0, changed: 0, unchanged: 0, deleted: 0 }

  add({ creates, changes, isDeletion }: ImportBulk, did: { readonly created: number; readonly changed: number }): void {
    this.#counts.created += did.created
    this.#counts[isDeletion ? 'deleted' : 'changed'] += did.changed
    this.#counts.unchanged += creates.length - did.created + changes.length - did.changed
  }

  /** For what an earlier run has done. */
  skip({ creates, changes }: ImportBulk): void {
    this.#counts.unchanged += creates.length + changes.length
  }

  get counts(): ImportCounts {
    return { ...this.#counts }
  }

  get total(): number {
    const { created, changed, unchanged, deleted } = this.#counts
    return created + changed + unchanged + deleted
  }
}

/** A bulk is written whole or not at all, so that the next run goes on behind it. */
function throwIfStopped(signal: StopSignal, counter: ImportCounter, total: number, { line }: ImportBulk): void {
  if (!signal.isReceived || counter.total === total) return
  const upTo = line === undefined ? '' : `, those up to line ${line}`
  throw new OperationFailure(
    `Stopped: ${formatCount(counter.total)} of ${formatCount(total)} stones were written${upTo}; the same command goes on from there`,
  )
}
