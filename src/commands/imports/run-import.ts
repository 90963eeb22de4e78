import { endImport, endUndo, type ImportCounts, type StockImport } from '../../domain/imports/stock-import.ts'
import { diamondStream } from '../../domain/diamond/diamond.ts'
import { RequestError } from '../../domain/request-error.ts'
import { BytesMissing } from '../../stores/ports/file-store.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { UnreadableFile, UnusableOption } from '../../trade-files/errors.ts'
import { indexStones } from '../../trade-files/known-stones.ts'
import { BULK_SIZE, planCreations, planDeletions, planUpdates, type PlannedBulk } from '../../trade-files/plan.ts'
import type { CommandContext } from '../core/command-context.ts'
import { findUndoConflicts } from '../diamonds/undo-changes.ts'
import type { CommandPrincipal } from '../diamonds/diamonds.ts'
import { recordByService } from './stock-imports.ts'
import { countUndone, findRemainingBulks, undoBulks, undoRecordOf } from './undo-bulks.ts'
import { openImportFile, type ImportCommandContext } from './understand.ts'
import { bulkRecordOf, readCompletedBulks, writeBulks } from './write-bulks.ts'

/** Called after each bulk, with the number of stones so far. If it throws, the next run goes on after this bulk. */
type OnProgress = (stones: number) => void | Promise<void>

/**
 * Writes the stones of a started import, or what an interrupted run has left of them, and records the result.
 * @param principal of the request that started it
 * @throws AlreadyApplied if another process runs it, StoreUnavailable, OutcomeUnknown, and what `onProgress` throws
 */
export async function runImport(
  context: ImportCommandContext,
  principal: CommandPrincipal,
  stockImport: StockImport,
  onProgress: OnProgress,
): Promise<void> {
  const result = await writeRemaining(context, principal, stockImport, onProgress).catch(toFailure)
  await recordByService(context, principal.owner, (state) => endImport(state, stockImport.id, result))
}

async function writeRemaining(
  context: ImportCommandContext,
  { owner, origin }: CommandPrincipal,
  { file, options, run }: StockImport,
  onProgress: OnProgress,
): Promise<{ readonly counts: ImportCounts }> {
  if (run === undefined || file === null) throw new Error('the import was not started')
  const before = await countWritten(context, run)
  const { list, stock } = await openImportFile(context, owner, file.digest, options)
  try {
    async function* planBulks(): AsyncGenerator<PlannedBulk> {
      if (stock === undefined) return yield* planCreations(list.lines)
      yield* planUpdates(list.lines, indexStones(stock))
      if (options.deleteMissing === true) yield* planDeletions(list.reading.missing)
    }
    const counts = await writeBulks(
      {
        context,
        principal: { owner, origin: { ...origin, correlation: run.run } },
        id: run.run,
        reportFiles: { files: context.files, folder: list.pdfFolder },
        completedBulks: before.bulks,
        // An update plans the stones of completed bulks again, and finds nothing to change.
        skipsCompleted: stock === undefined,
        onProgress,
      },
      planBulks(),
    )
    const created = before.created + counts.created
    const changed = before.changed + counts.changed
    return {
      counts: {
        created,
        changed,
        unchanged: list.reading.usable - created - changed,
        deleted: before.deleted + counts.deleted,
        certifications: before.certifications + counts.certifications,
      },
    }
  } finally {
    await list.close()
  }
}

type WrittenCounts = Omit<ImportCounts, 'unchanged'> & { readonly bulks: number }

/** What earlier attempts of a run have written, from the log. */
async function countWritten(
  context: CommandContext,
  { run, completedBulks }: NonNullable<StockImport['run']>,
): Promise<WrittenCounts> {
  const counts = { bulks: 0, created: 0, changed: 0, deleted: 0, certifications: 0 }
  for await (const { diamonds } of readCompletedBulks(context, run)) {
    if (++counts.bulks <= completedBulks) continue
    for (const diamond of diamonds) {
      const types = await typesWrittenBy(context.store, diamond, run)
      counts[types.includes('DiamondCreated') ? 'created' : types.includes('DiamondDeleted') ? 'deleted' : 'changed']++
      counts.certifications += types.filter((type) => type === 'CertificationAttached').length
    }
  }
  return counts
}

const typesWrittenBy = async (store: EventStore, diamond: number, run: string): Promise<readonly string[]> =>
  (await store.readStream(diamondStream(diamond)))
    .filter(({ metadata }) => metadata['$correlationId'] === run)
    .map(({ type }) => type)

/** Only what trying again would not change; the rest is thrown. */
function toFailure(error: unknown): { readonly why: string } {
  const isFinal = [UnreadableFile, UnusableOption, RequestError, BytesMissing].some((type) => error instanceof type)
  const isTemporary = error instanceof RequestError && error.kind === 'unavailable'
  if (!isFinal || isTemporary || !(error instanceof Error)) throw error
  return { why: error.message }
}

/**
 * Undoes an import, or what an interrupted undo has left of it, and records the result.
 * @throws as `runImport`
 */
export async function runUndo(
  context: CommandContext,
  principal: CommandPrincipal,
  { id, run, skipChanged = false }: StockImport,
  onProgress: OnProgress,
): Promise<void> {
  if (run === undefined) throw new Error('the import was not started')
  const bulks = await findRemainingBulks(context, run.run)
  const conflicts: string[] = []
  if (!skipChanged)
    for (const bulk of bulks) conflicts.push(...(await findUndoConflicts(context.store, bulk)).map(describeConflict))
  if (conflicts.length > 0) {
    const why = `Nothing was undone, since stones were changed after the import (${conflicts.length}): ${conflicts.slice(0, MAX_NAMED).join(', ')}`
    return recordByService(context, principal.owner, (state) => endUndo(state, id, { why }))
  }
  await undoBulks(context, principal, bulks, onProgress)
  const counts = await countUndone(context, run.run)
  await recordByService(context, principal.owner, (state) => endUndo(state, id, { counts }))
}

const MAX_NAMED = 10

const describeConflict = ({ id, sku }: { readonly id: number; readonly sku: string }): string => sku || `diamond ${id}`

/** Stones that an import or its undo has written, by the bulks in the log: it may be at work in another process. */
export async function countDone(context: CommandContext, { run, state }: StockImport): Promise<number> {
  if (run === undefined) return 0
  const recordOf = state === 'undoing' ? undoRecordOf : bulkRecordOf
  const isDone = async (bulkIndex: number) =>
    (await context.store.readStream(recordOf(run.run, bulkIndex), { last: 1 })).at(0)?.type === 'RequestDone'
  // Bulks are done in order: a search for the first that is not.
  let [done, rest] = [0, Math.ceil(run.total / BULK_SIZE)]
  while (done < rest) {
    const middle = Math.floor((done + rest) / 2)
    if (await isDone(middle)) done = middle + 1
    else rest = middle
  }
  return Math.min(done * BULK_SIZE, run.total)
}

/** Records that an import or its undo failed for an internal reason. */
export async function failImport(context: CommandContext, account: number, id: string): Promise<void> {
  const why = 'An internal error, which the operator finds in the log of the service'
  await recordByService(context, account, (state) => [...endImport(state, id, { why }), ...endUndo(state, id, { why })])
}
