import { randomUUID } from 'node:crypto'
import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import type { Installation } from '../../wiring/installation.ts'
import { confirm } from '../confirm.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { createOperatorOrigin } from '../with-installation.ts'
import { formatCount, formatQuantity, note, noteSkippedEvent, progressBar } from '../output.ts'
import { awaitReadModels } from '../await-read-models.ts'
import { listenForStop, stoppedAfter } from '../process-exit.ts'
import type { Findings } from '../../trade-files/findings.ts'
import { readSettledStock, type Stock } from '../../commands/imports/stock.ts'
import {
  describeResult,
  describeSource,
  ZERO_COUNTS,
  ImportReport,
  describeDryRun,
  type ImportRequest,
} from './report.ts'
import { openSource } from '../../trade-files/source.ts'
import { readStockList } from '../../trade-files/stock-list.ts'
import { unpackUpload } from '../../trade-files/upload.ts'
import {
  BULK_SIZE,
  planCreations,
  planDeletions,
  planUpdates,
  type PlannedBulk,
  type PlannedBulks,
} from '../../trade-files/plan.ts'
import { countChanges, findResumePoint, writeBulks } from '../../commands/imports/write-bulks.ts'
import type { ReportFiles } from '../../commands/imports/report-files.ts'
import { AlreadyApplied } from '../../commands/diamonds/change-stock.ts'
import { writeUndoFile } from './undo.ts'

const STOCK_FAULTS = {
  onSkippedEvent: noteSkippedEvent,
  onUnfinishedRequest: (stream: string, { message }: Error) =>
    note(`could not complete the accepted request ${stream}: ${message}`),
}

type ImportContext = {
  readonly installation: Installation
  readonly request: ImportRequest
  readonly findings: Findings
  readonly report: ImportReport
  readonly principal: CommandPrincipal
  readonly readUsableLines: () => ReturnType<Findings['usableLines']>
  readonly reportFiles: ReportFiles
}

/**
 * Imports a file in two passes: validates all of it, then reads it again and writes.
 * @param folder to unpack an archive to
 * @throws OperationFailure, BadUsage, RequestError
 */
export async function importStones(
  installation: Installation,
  { path, folder }: { readonly path: string; readonly folder: string },
  owner: number,
  request: ImportRequest,
): Promise<void> {
  const isUpdate = request.updateBy !== undefined
  const { stockList, pdfs } = await unpackUpload(path, folder)
  const source = await openSource(stockList, request, isUpdate ? { required: ['sku'] } : {})
  note(describeSource(source))
  const stock = isUpdate ? await readSettledStock(installation.context, owner, STOCK_FAULTS) : undefined
  const { findings, pdfRemarks, usableLines } = await readStockList(source, stock, pdfs)
  const report = new ImportReport(source, findings, request)
  report.noteContents()
  report.noteTexts()
  report.noteOmittedLines()
  for (const remark of pdfRemarks) note(remark)
  report.noteProblems()
  if (findings.badLines.length > 0 && request.skipBad !== true) {
    if (request.json === true) report.print(ZERO_COUNTS, '')
    const all = findings.usableCount + findings.badLines.length
    throw new OperationFailure(
      `Invalid lines: ${formatCount(findings.badLines.length)} of ${formatCount(all)}; nothing was written (use --skip-bad to skip them)`,
    )
  }
  const context = {
    installation,
    request,
    findings,
    report,
    principal: { owner, origin: createOperatorOrigin() },
    readUsableLines: usableLines,
    reportFiles: { files: installation.files, folder },
  }
  await (stock === undefined ? create(context, await source.digest()) : update(context, stock))
  report.noteShapes()
}

/** @param fileDigest SHA-256 of the file's bytes */
async function create(context: ImportContext, fileDigest: string): Promise<void> {
  const { installation, request, findings, report, principal, readUsableLines } = context
  const { usableCount } = findings
  // With other options, such as --map or --skip-bad, the same file results in different stones.
  const digest = `${fileDigest}/${findings.digest}`
  const bulkCount = Math.ceil(usableCount / BULK_SIZE)
  const ignoresComplete = request.again === true
  const { id, completedBulks, lastWrittenAt } = await findResumePoint(installation.context, {
    account: principal.owner,
    digest,
    bulkCount,
    ignoresComplete,
  })
  const writtenCount = Math.min(completedBulks * BULK_SIZE, usableCount)
  if (usableCount > 0 && writtenCount === usableCount) {
    const text = `Nothing was written: this file was already imported at ${lastWrittenAt}; use --update-by sku to update its stones, or --again to create them again`
    return report.print({ ...ZERO_COUNTS, unchanged: usableCount }, text)
  }
  if (request.dryRun === true) {
    const bulks = planCreations(readUsableLines())
    const plannedCounts = await countChanges(installation.context, principal, bulks, completedBulks)
    return report.print(ZERO_COUNTS, describeDryRun(plannedCounts, request), { plannedCounts })
  }
  if (writtenCount > 0) note(`resuming an interrupted import that wrote ${formatQuantity(writtenCount, 'stone')}`)
  await executeImport(context, { id, completedBulks, total: usableCount }, planCreations(readUsableLines()))
}

async function update(context: ImportContext, stock: Stock): Promise<void> {
  const { installation, request, findings, report, principal, readUsableLines } = context
  const missingIds = request.deleteMissing === true ? findMissingStones(findings, stock) : []
  async function* planBulks() {
    yield* planUpdates(readUsableLines(), stock)
    yield* planDeletions(missingIds)
  }
  if (request.dryRun === true) {
    const plannedCounts = await countChanges(installation.context, principal, planBulks())
    return report.print(ZERO_COUNTS, describeDryRun(plannedCounts, request), { plannedCounts })
  }
  if (missingIds.length > 0) await confirmDeletion(request, missingIds, stock)
  await executeImport(
    context,
    { id: randomUUID(), completedBulks: 0, total: findings.usableCount + missingIds.length },
    planBulks(),
  )
}

/** @throws OperationFailure if the file has no stones: it is probably truncated, and would delete the whole inventory */
function findMissingStones({ usableCount, hasSku }: Findings, { skus }: Stock): number[] {
  const missingIds = [...skus].filter(([, sku]) => !hasSku(sku)).map(([id]) => id)
  if (usableCount > 0 || missingIds.length === 0) return missingIds
  throw new OperationFailure('The file contains no stones: --delete-missing does not delete the whole inventory')
}

async function confirmDeletion(
  request: ImportRequest,
  missingIds: readonly number[],
  { idsWithFiles }: Stock,
): Promise<void> {
  const unrestorableCount = missingIds.filter((id) => idsWithFiles.has(id)).length
  const filesText =
    unrestorableCount === 0
      ? ''
      : `; with PDFs of reports or 3D models, which --undo cannot restore: ${formatCount(unrestorableCount)}`
  const message = `Stones of ${request.user} to delete, since the file does not contain them: ${formatCount(missingIds.length)}${filesText}`
  await confirm({
    message,
    isConfirmed: request.yes === true,
    nonInteractiveMessage: `${message}. Confirm with --yes, or preview the result with --dry-run`,
    declinedMessage: 'Cancelled; nothing was written',
  })
}

async function executeImport(
  { installation, request, report, principal, findings, reportFiles }: ImportContext,
  { id, completedBulks, total }: { readonly id: string; readonly completedBulks: number; readonly total: number },
  bulks: PlannedBulks,
): Promise<void> {
  const signal = listenForStop()
  const undoFile = await writeUndoFile(installation.settings.DATA_DIR, {
    format: 'adamant-undo/1',
    import: id,
    account: principal.owner,
    email: request.user,
    log: await installation.store.identity(),
    file: basename(request.file),
    at: new Date(installation.context.clock()).toISOString(),
  })
  note(`undo file: ${undoFile}`)
  // All runs of one import use its id as correlation id.
  const importPrincipal: CommandPrincipal = { ...principal, origin: { ...principal.origin, correlation: id } }
  const bar = progressBar('importing', total, 'stones')
  const onProgress = (stones: number, { line }: PlannedBulk) => {
    bar.update(stones)
    const lines = line === undefined ? '' : ` (up to line ${line})`
    if (signal.aborted && stones < total)
      throw stoppedAfter(`${formatCount(stones)} of ${formatQuantity(total, 'stone')}${lines}`)
  }
  const run = {
    context: installation.context,
    principal: importPrincipal,
    id,
    reportFiles,
    completedBulks,
    onProgress,
  }
  const { position, ...counts } = await writeBulks(run, bulks).catch(explainConcurrentImport)
  bar.end()
  await awaitReadModels(installation, position ?? 'start')
  if (position === undefined) {
    await unlink(undoFile)
    note('Nothing was changed; the undo file was removed')
  }
  report.print(counts, describeResult(counts, request, findings), { undo: position === undefined ? null : undoFile })
}

function explainConcurrentImport(error: unknown): never {
  if (!(error instanceof AlreadyApplied)) throw error
  throw new OperationFailure(
    'Another process is importing the same stones, and nothing was imported twice. Run the command again to see the result',
  )
}
