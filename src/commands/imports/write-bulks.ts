import { finishBulk } from '../bulk/handle-bulk.ts'
import { requestStream } from '../bulk/request-record.ts'
import { latestPosition } from '../core/append.ts'
import type { CommandContext } from '../core/handle.ts'
import { changeStock, AlreadyApplied } from '../diamonds/change-stock.ts'
import {
  decideChanges,
  planDelete,
  planPatch,
  type CommandPrincipal,
  type DiamondChange,
  type DiamondCommandContext,
} from '../diamonds/diamonds.ts'
import { IdAllocator } from '../installation/id-allocator.ts'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondDecider, diamondStream } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { formatCount, formatQuantity, progressBar } from '../../cli/output.ts'
import type { StopSignal } from '../../cli/process-exit.ts'
import { toNewDiamond, type UsableLine } from '../../trade-files/findings.ts'
import type { Stock } from './stock.ts'

/** Stones that are written atomically. */
export const BULK_SIZE = 500

/** The request stream of a bulk of an import. @param bulkIndex from 0 */
const recordOf = (id: string, bulkIndex: number): string => requestStream('import', id, bulkIndex)

/** A completed bulk: ids of its diamonds, and its time (ISO 8601). */
export type CompletedBulk = { readonly diamonds: readonly number[]; readonly at: string }

/** The bulk with this request stream, which is completed first if it was only accepted; undefined if there is none. */
export async function finishAndReadBulk(writing: CommandContext, record: string): Promise<CompletedBulk | undefined> {
  await finishBulk(writing, record)
  const [last] = await writing.store.read(record, { last: 1 })
  if (last?.type !== 'RequestDone') return undefined
  return { diamonds: decode<RequestDone>(last).data.diamonds, at: last.metadata['at'] ?? '' }
}

/** The completed bulks of an import, in order. */
export async function* readCompletedBulks(writing: CommandContext, id: string): AsyncGenerator<CompletedBulk> {
  for (let bulkIndex = 0; ; bulkIndex++) {
    const bulk = await finishAndReadBulk(writing, recordOf(id, bulkIndex))
    if (bulk === undefined) return
    yield bulk
  }
}

/** Where an import of new stones starts. */
export type ImportResumePoint = {
  readonly id: string
  /** Bulks written by an interrupted run. */
  readonly completedBulks: number
  /** Time of the last of them, ISO 8601. */
  readonly lastWrittenAt: string | undefined
}

/**
 * Finds an earlier import of the same file, complete or interrupted: the id of an import derives from the account and the
 * file. An import is ignored if none of its stones exists any more.
 * @param digest of the file and its parsed lines
 * @param bulkCount number of bulks of the import
 * @param ignoresComplete whether to ignore complete imports too
 */
export async function findResumePoint(
  writing: CommandContext,
  {
    account,
    digest,
    bulkCount,
    ignoresComplete,
  }: { account: number; digest: string; bulkCount: number; ignoresComplete: boolean },
): Promise<ImportResumePoint> {
  for (let importNumber = 1; ; importNumber++) {
    const id = eventId(`import/${account}/${digest}/${BULK_SIZE}`, importNumber)
    let lastWrittenAt: string | undefined
    let completedBulks = 0
    let isAnyLive = false
    for await (const bulk of readCompletedBulks(writing, id)) {
      completedBulks++
      lastWrittenAt = bulk.at
      isAnyLive ||= await isAnyDiamondLive(writing, bulk.diamonds)
    }
    if (completedBulks === 0 || (isAnyLive && !(ignoresComplete && completedBulks >= bulkCount)))
      return { id, completedBulks, lastWrittenAt }
  }
}

async function isAnyDiamondLive({ store, stateCache }: CommandContext, diamonds: readonly number[]): Promise<boolean> {
  for (const id of diamonds) {
    const { state } = await stateCache.load(store, diamondStream(id), diamondDecider)
    if (state.status === 'live') return true
  }
  return false
}

/** Numbers of stones. */
export type ImportCounts = {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly deleted: number
}

/** One atomic step of an import, with at most BULK_SIZE stones. */
export type ImportBulk = {
  readonly creates: readonly NewDiamond[]
  readonly changes: readonly DiamondChange[]
  /** Whether the changes delete the diamonds. */
  readonly isDeletion: boolean
  /** The last line of the file that it covers. */
  readonly line?: number
}

/** Creates a stone for each line. */
export async function* planCreations(lines: AsyncIterable<UsableLine>): AsyncGenerator<ImportBulk> {
  for await (const bulk of bulksOf(lines)) {
    yield { creates: bulk.map(({ change }) => toNewDiamond(change)), changes: [], isDeletion: false, ...lastOf(bulk) }
  }
}

/** Updates the stone with the sku of each line, or creates it. */
export async function* planUpdates(
  lines: AsyncIterable<UsableLine>,
  stock: Stock,
  principal: CommandPrincipal,
): AsyncGenerator<ImportBulk> {
  for await (const bulk of bulksOf(lines)) {
    const creates: NewDiamond[] = []
    const changes: DiamondChange[] = []
    for (const { change } of bulk) {
      const [id] = stock.bySku(change.set.sku ?? '')
      if (id === undefined) creates.push(toNewDiamond(change))
      else changes.push(planPatch(id, change, principal))
    }
    yield { creates, changes, isDeletion: false, ...lastOf(bulk) }
  }
}

/** Deletes these stones, in bulks. */
export function* planDeletions(ids: readonly number[], principal: CommandPrincipal): Generator<ImportBulk> {
  for (let from = 0; from < ids.length; from += BULK_SIZE) {
    const changes = ids.slice(from, from + BULK_SIZE).map((id) => planDelete(id, principal))
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

/** The counts that the bulks would result in, for a dry run. */
export async function countChanges(
  installation: { readonly writing: CommandContext },
  principal: CommandPrincipal,
  bulks: ImportBulks,
): Promise<ImportCounts> {
  const counter = new ImportCounter()
  for await (const bulk of bulks) {
    const { decisions } = await decideChanges(installation.writing, principal, bulk.changes)
    const changed = decisions.filter(({ events }) => events.length > 0).length
    counter.add(bulk, { created: bulk.creates.length, changed })
  }
  return counter.counts
}

export type ImportRun = {
  readonly installation: { readonly writing: CommandContext }
  readonly principal: CommandPrincipal
  /** Id of the import, from which its request streams derive. */
  readonly id: string
  /** Bulks done by an interrupted run; they are skipped. */
  readonly completedBulks: number
  /** Number of stones of all bulks. */
  readonly total: number
  readonly signal: StopSignal
}

/** Executes the bulks in order. @throws OperationFailure if it is stopped, or another process runs the same import */
export async function writeBulks(
  { installation, principal, id, completedBulks, total, signal }: ImportRun,
  bulks: ImportBulks,
): Promise<ImportCounts & { readonly position: Position | undefined }> {
  const context = createDiamondContext(installation, principal)
  const counter = new ImportCounter()
  const bar = progressBar('importing', total, 'stones')
  let position: Position | undefined
  let bulkIndex = 0
  for await (const bulk of bulks) {
    if (bulkIndex < completedBulks) {
      bulkIndex++
      counter.skip(bulk)
    } else {
      const result = await writeBulk(context, principal, { ...bulk, record: recordOf(id, bulkIndex) })
      if (result.position !== undefined) bulkIndex++
      position = latestPosition([position, result.position])
      counter.add(bulk, result)
    }
    bar.update(counter.total)
    throwIfStopped(signal, counter, total, bulk)
  }
  bar.end()
  return { ...counter.counts, position }
}

/** Context for diamond commands that reserves ids for whole bulks. */
export const createDiamondContext = (
  { writing }: { readonly writing: CommandContext },
  { origin }: CommandPrincipal,
): DiamondCommandContext => {
  return { ...writing, diamondIds: new IdAllocator({ ...writing, kind: 'diamond', size: BULK_SIZE, origin }) }
}

async function writeBulk(
  context: DiamondCommandContext,
  principal: CommandPrincipal,
  bulk: ImportBulk & { readonly record: string },
) {
  try {
    return await changeStock(context, principal, bulk)
  } catch (error) {
    if (!(error instanceof AlreadyApplied)) throw error
    throw new OperationFailure(
      'Another process is importing the same stones, and nothing was imported twice. Run the command again to see the result',
    )
  }
}

class ImportCounter {
  #counts = { created: 0, changed: 0, unchanged: 0, deleted: 0 }

  add(
    { creates, changes, isDeletion }: ImportBulk,
    result: { readonly created: number; readonly changed: number },
  ): void {
    this.#counts.created += result.created
    this.#counts[isDeletion ? 'deleted' : 'changed'] += result.changed
    this.#counts.unchanged += creates.length - result.created + changes.length - result.changed
  }

  /** Counts a bulk that an interrupted run has done. */
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

/** A stop takes effect between two atomic bulks, so that the next run resumes after the last one. */
function throwIfStopped(signal: StopSignal, counter: ImportCounter, total: number, { line }: ImportBulk): void {
  if (!signal.isReceived || counter.total === total) return
  const upTo = line === undefined ? '' : ` (up to line ${line})`
  throw new OperationFailure(
    `Stopped after ${formatCount(counter.total)} of ${formatQuantity(total, 'stone')}${upTo}; run the same command again to resume`,
  )
}
