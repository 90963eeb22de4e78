import type { Position } from '../../stores/ports/event-store.ts'
import { requestStream } from '../bulk/request-record.ts'
import { latestPosition } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'
import { AlreadyApplied } from '../diamonds/change-stock.ts'
import type { CommandPrincipal } from '../diamonds/diamonds.ts'
import { undoChanges, type DiamondUndoRequest, type DiamondUndoResult } from '../diamonds/undo-changes.ts'
import { finishAndReadBulk, readCompletedBulks, withBulkIds } from './write-bulks.ts'

/** The bulks of an import that are not undone yet. Keeps only ids in memory. @param id of the import */
export async function findRemainingBulks(context: CommandContext, id: string): Promise<DiamondUndoRequest[]> {
  const bulks: DiamondUndoRequest[] = []
  for await (const { undone, ...bulk } of readBulksWithUndo(context, id)) if (undone === undefined) bulks.push(bulk)
  return bulks
}

/** Numbers of stones that the undo of an import has restored, and of those that it has left as they are. */
export async function countUndone(
  context: CommandContext,
  id: string,
): Promise<{ readonly restored: number; readonly left: number }> {
  let [all, restored] = [0, 0]
  for await (const { diamonds, undone } of readBulksWithUndo(context, id)) {
    all += diamonds.length
    restored += undone?.diamonds.length ?? 0
  }
  return { restored, left: all - restored }
}

/** The request stream of the undo of a bulk. @param bulkIndex from 0 */
export const undoRecordOf = (id: string, bulkIndex: number): string => requestStream('import', 'undo', id, bulkIndex)

async function* readBulksWithUndo(context: CommandContext, id: string) {
  let bulkIndex = 0
  for await (const { diamonds } of readCompletedBulks(context, id)) {
    const record = undoRecordOf(id, bulkIndex++)
    yield { record, correlation: id, diamonds, undone: await finishAndReadBulk(context, record) }
  }
}

/**
 * Undoes the bulks in order. Each undone bulk is recorded in the event log, so an interrupted undo resumes when it is run again.
 * @param onProgress called after each bulk, with the number of stones so far; if it throws, the undo stops
 */
export async function undoBulks(
  context: CommandContext,
  principal: CommandPrincipal,
  bulks: readonly DiamondUndoRequest[],
  onProgress?: (stones: number) => void | Promise<void>,
): Promise<DiamondUndoResult> {
  const diamonds = withBulkIds(context, principal)
  const sum = { created: 0, changed: 0, deleted: 0, unchanged: 0, refused: 0 }
  let position: Position | undefined
  let stones = 0
  for (const bulk of bulks) {
    try {
      const result = await undoChanges(diamonds, principal, bulk)
      for (const name of ['created', 'changed', 'deleted', 'unchanged', 'refused'] as const) sum[name] += result[name]
      position = latestPosition([position, result.position])
    } catch (error) {
      // Another process undoes the same import, and has done this bulk.
      if (!(error instanceof AlreadyApplied)) throw error
    }
    await onProgress?.((stones += bulk.diamonds.length))
  }
  return { ...sum, position }
}
