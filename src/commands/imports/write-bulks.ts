import type { NewStone } from '../../domain/certification/stated-report.ts'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondFold, diamondStream } from '../../domain/diamond/diamond.ts'
import type { ImportCounts } from '../../domain/imports/stock-import.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { missingFieldsOf } from '../../trade-files/lines.ts'
import { BULK_SIZE, toNewStone, type PlannedBulk, type PlannedBulks } from '../../trade-files/plan.ts'
import { finishBulk } from '../bulk/accepted-bulk.ts'
import { requestStream } from '../bulk/request-record.ts'
import { latestPosition } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'
import { changeStock, countAttached, planUpdate, type StockCommandContext } from '../diamonds/change-stock.ts'
import { decideChanges, planDelete, type CommandPrincipal, type EventualDiamondChange } from '../diamonds/diamonds.ts'
import { IdAllocator } from '../installation/id-allocator.ts'
import { withReportFiles, type ReportFiles } from './report-files.ts'

type ImportRun = {
  readonly context: CommandContext
  readonly principal: CommandPrincipal
  /** Id of the import, from which its request streams derive. */
  readonly id: string
  /** Where the PDFs are that came with the stock list. */
  readonly reportFiles: ReportFiles
  /** Bulks done by an interrupted run. */
  readonly completedBulks: number
  /** Whether the plan begins with them again, so that they are skipped. Default: true. */
  readonly skipsCompleted?: boolean
  /** Called after each bulk, with the number of stones so far. If it throws, the next run resumes after this bulk. */
  readonly onProgress?: (stones: number, bulk: PlannedBulk) => void | Promise<void>
}

/** Executes the bulks in order. @throws AlreadyApplied if another process runs the same import, and what `onProgress` throws */
export async function writeBulks(
  { context, principal, id, reportFiles, completedBulks, skipsCompleted = true, onProgress }: ImportRun,
  bulks: PlannedBulks,
): Promise<ImportCounts & { readonly position: Position | undefined }> {
  const stock = withBulkIds(context, principal)
  const takeCertificationId = () => stock.certificationIds.take()
  const counter = new ImportCounter()
  let position: Position | undefined
  let bulkIndex = skipsCompleted ? 0 : completedBulks
  for await (const bulk of bulks) {
    if (bulkIndex < completedBulks) {
      bulkIndex++
      counter.skip(bulk)
    } else {
      const { creates } = bulk
      const changes = changesOf(bulk, principal, takeCertificationId)
      const record = bulkRecordOf(id, bulkIndex)
      const result = await withReportFiles(reportFiles, bulk, () =>
        changeStock(stock, principal, { record, creates, changes, recreate: recreationsOf(bulk) }),
      )
      if (result.position !== undefined) bulkIndex++
      position = latestPosition([position, result.position])
      counter.add(bulk, result)
    }
    await onProgress?.(counter.total, bulk)
  }
  return { ...counter.counts, position }
}

/** A stone that others have deleted meanwhile is created again if its line has all that a new stone needs. */
function recreationsOf({ updates }: PlannedBulk): (id: number) => NewStone | undefined {
  const linesById = new Map(updates.map((update) => [update.id, update]))
  return (id) => {
    const line = linesById.get(id)
    return line === undefined || missingFieldsOf(line.change).length > 0 ? undefined : toNewStone(line)
  }
}

/**
 * The counts that the bulks would result in.
 * @param completedBulks bulks done by an interrupted run; they are skipped
 */
export async function countChanges(
  context: CommandContext,
  principal: CommandPrincipal,
  bulks: PlannedBulks,
  completedBulks = 0,
): Promise<ImportCounts> {
  const counter = new ImportCounter()
  let bulkIndex = 0
  for await (const bulk of bulks) {
    if (bulkIndex++ < completedBulks) {
      counter.skip(bulk)
      continue
    }
    const { decisions } = await decideChanges(context, principal, changesOf(bulk, principal, takeNoId))
    const changed = decisions.filter(({ events }) => events.length > 0).length
    const newReportCount = bulk.creates.reduce((count, { reports }) => count + reports.length, 0)
    const certifications = newReportCount + countAttached(decisions)
    counter.add(bulk, { created: bulk.creates.length, changed, certifications })
  }
  return counter.counts
}

/** For a count of what would be written: no id is used. */
export const takeNoId = () => Promise.resolve(0)

const changesOf = (
  { updates, deletes }: PlannedBulk,
  principal: CommandPrincipal,
  takeCertificationId: () => Promise<number>,
): readonly EventualDiamondChange[] => [
  ...updates.map((update) => planUpdate(update, principal, takeCertificationId)),
  ...deletes.map((id) => planDelete(id, principal)),
]

/** Context for commands that reserves ids for whole bulks. */
export const withBulkIds = (context: CommandContext, { origin }: CommandPrincipal): StockCommandContext => ({
  ...context,
  diamondIds: new IdAllocator({ ...context, kind: 'diamond', size: BULK_SIZE, origin }),
  certificationIds: new IdAllocator({ ...context, kind: 'certification', size: BULK_SIZE, origin }),
})

class ImportCounter {
  #counts = { created: 0, changed: 0, unchanged: 0, deleted: 0, certifications: 0 }

  /** A bulk of deletions changes nothing else. */
  add(
    { creates, updates, deletes }: PlannedBulk,
    result: { readonly created: number; readonly changed: number; readonly certifications: number },
  ): void {
    this.#counts.certifications += result.certifications
    this.#counts.created += result.created
    this.#counts[deletes.length > 0 ? 'deleted' : 'changed'] += result.changed
    this.#counts.unchanged += creates.length + updates.length + deletes.length - result.created - result.changed
  }

  /** Counts a bulk that an interrupted run has done. */
  skip({ creates, updates, deletes }: PlannedBulk): void {
    this.#counts.unchanged += creates.length + updates.length + deletes.length
  }

  get counts(): ImportCounts {
    return { ...this.#counts }
  }

  get total(): number {
    const { created, changed, unchanged, deleted } = this.#counts
    return created + changed + unchanged + deleted
  }
}

/** Where an import of new stones starts. */
type ImportResumePoint = {
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
  context: CommandContext,
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
    for await (const bulk of readCompletedBulks(context, id)) {
      completedBulks++
      lastWrittenAt = bulk.at
      isAnyLive ||= await isAnyDiamondLive(context, bulk.diamonds)
    }
    if (completedBulks === 0 || (isAnyLive && !(ignoresComplete && completedBulks >= bulkCount)))
      return { id, completedBulks, lastWrittenAt }
  }
}

async function isAnyDiamondLive({ store, stateCache }: CommandContext, diamonds: readonly number[]): Promise<boolean> {
  for (const id of diamonds) {
    const { state } = await stateCache.load(store, diamondStream(id), diamondFold)
    if (state.status === 'live') return true
  }
  return false
}

/** A completed bulk: ids of its diamonds, and its time (ISO 8601). */
type CompletedBulk = { readonly diamonds: readonly number[]; readonly at: string }

/** The completed bulks of an import, in order. */
export async function* readCompletedBulks(context: CommandContext, id: string): AsyncGenerator<CompletedBulk> {
  for (let bulkIndex = 0; ; bulkIndex++) {
    const bulk = await finishAndReadBulk(context, bulkRecordOf(id, bulkIndex))
    if (bulk === undefined) return
    yield bulk
  }
}

/** The bulk with this request stream, which is completed first if it was only accepted; undefined if there is none. */
export async function finishAndReadBulk(context: CommandContext, record: string): Promise<CompletedBulk | undefined> {
  await finishBulk(context, record)
  const [last] = await context.store.readStream(record, { last: 1 })
  if (last?.type !== 'RequestDone') return undefined
  return { diamonds: decode<RequestDone>(last).data.diamonds, at: last.metadata['at'] ?? '' }
}

/** The request stream of a bulk of an import. @param bulkIndex from 0 */
export const bulkRecordOf = (id: string, bulkIndex: number): string => requestStream('import', id, bulkIndex)
