import { randomUUID } from 'node:crypto'
import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import type { Installation } from '../../wiring/installation.ts'
import { confirm } from '../confirm.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { createOperatorOrigin } from '../with-installation.ts'
import { formatCount, formatQuantity, note } from '../output.ts'
import { awaitReadModels } from '../await-read-models.ts'
import { listenForStop } from '../process-exit.ts'
import type { ValueMapping, ColumnMapping } from './columns.ts'
import { collectFindings, type Findings } from './findings.ts'
import { readSettledStock, type Stock } from './stock.ts'
import { readLines } from './lines.ts'
import { describeResult, ZERO_COUNTS, ImportReport, describeDryRun, type ImportRequest } from './report.ts'
import { openSource } from './source.ts'
import {
  BULK_SIZE,
  countChanges,
  planCreations,
  planDeletions,
  findResumePoint,
  planUpdates,
  writeBulks,
  type ImportBulks,
} from './write.ts'
import { writeUndoFile } from './undo.ts'

type ImportContext = {
  readonly installation: Installation
  readonly asked: ImportRequest
  readonly findings: Findings
  readonly report: ImportReport
  readonly by: CommandPrincipal
  readonly usable: () => ReturnType<Findings['usableLines']>
}

/** Imports a file in two passes: validates all of it, then reads it again and writes. @throws OperationFailure, BadUsage, RequestError */
export async function importStones(
  installation: Installation,
  path: string,
  owner: number,
  asked: ImportRequest & { readonly mapping: ColumnMapping; readonly values: readonly ValueMapping[] },
): Promise<void> {
  const isUpdate = asked.updateBy !== undefined
  const source = await openSource(path, {
    unknown: asked.ignoreUnknown === true ? 'ignored' : 'refused',
    mapping: asked.mapping,
    values: asked.values,
    ...(asked.decimal !== undefined && { decimal: asked.decimal }),
    ...(asked.sheet !== undefined && { sheet: asked.sheet }),
    ...(isUpdate && { required: ['sku'] }),
  })
  note(source.description)
  const stock = isUpdate ? await readSettledStock(installation.writing, owner) : undefined
  const lines = () => readLines(source.entries(), isUpdate ? 'stones by sku' : 'new stones', stock?.customShapes)
  const findings = await collectFindings(lines(), stock)
  const report = new ImportReport(source, findings, asked)
  report.noteContents()
  report.noteTexts()
  report.noteProblems()
  if (findings.badLines.length > 0 && asked.skipBad !== true) {
    if (asked.json === true) report.print(ZERO_COUNTS, '')
    const all = findings.usableCount + findings.badLines.length
    throw new OperationFailure(
      `Invalid lines: ${formatCount(findings.badLines.length)} of ${formatCount(all)}; nothing was written (use --skip-bad to skip them)`,
    )
  }
  const usable = () => findings.usableLines(lines())
  const work = { installation, asked, findings, report, by: { owner, origin: createOperatorOrigin() }, usable }
  await (stock === undefined ? create(work, await source.digest()) : update(work, stock))
  report.noteShapes()
}

/** @param file SHA-256 of the file's bytes */
async function create(work: ImportContext, file: string): Promise<void> {
  const { installation, asked, findings, report, by, usable } = work
  const { usableCount } = findings
  // With other options, such as --map or --skip-bad, the same file results in different stones.
  const digest = `${file}/${findings.digest}`
  const bulks = Math.ceil(usableCount / BULK_SIZE)
  const again = asked.again === true
  const { id, completedBulks, lastWrittenAt } = await findResumePoint(installation.writing, {
    account: by.owner,
    digest,
    bulks,
    again,
  })
  const before = Math.min(completedBulks * BULK_SIZE, usableCount)
  if (usableCount > 0 && before === usableCount) {
    const text = `Nothing was written: this file was already imported at ${lastWrittenAt}; use --again to create its stones again`
    return report.print({ ...ZERO_COUNTS, unchanged: usableCount }, text)
  }
  if (asked.dryRun === true) {
    const would = { ...ZERO_COUNTS, created: usableCount - before, unchanged: before }
    return report.print(ZERO_COUNTS, describeDryRun(would, asked), { would })
  }
  if (before > 0) note(`resuming an interrupted import that wrote ${formatQuantity(before, 'stone')}`)
  await carryOut(work, { id, done: completedBulks, total: usableCount }, planCreations(usable()))
}

async function update(work: ImportContext, stock: Stock): Promise<void> {
  const { installation, asked, findings, report, by, usable } = work
  const missing = asked.deleteMissing === true ? missingIn(findings, stock) : []
  async function* steps(who: CommandPrincipal) {
    yield* planUpdates(usable(), stock, who)
    yield* planDeletions(missing, who)
  }
  if (asked.dryRun === true) {
    const would = await countChanges(installation, by, steps(by))
    return report.print(ZERO_COUNTS, describeDryRun(would, asked), { would })
  }
  if (missing.length > 0) await confirmDeletion(asked, missing, stock)
  await carryOut(work, { id: randomUUID(), done: 0, total: findings.usableCount + missing.length }, steps(by))
}

/** @throws OperationFailure if the file has no stones: it is probably truncated, and would delete the whole inventory */
function missingIn({ usableCount, hasSku }: Findings, { skus }: Stock): number[] {
  const missing = [...skus].filter(([, sku]) => !hasSku(sku)).map(([id]) => id)
  if (usableCount > 0 || missing.length === 0) return missing
  throw new OperationFailure('The file contains no stones: --delete-missing does not delete the whole inventory')
}

async function confirmDeletion(
  asked: ImportRequest,
  missing: readonly number[],
  { idsWithAttachments }: Stock,
): Promise<void> {
  const lost = missing.filter((id) => idsWithAttachments.has(id)).length
  const attached =
    lost === 0 ? '' : `; with certificates or 3D models, which --undo cannot restore: ${formatCount(lost)}`
  const what = `Stones of ${asked.user} to delete, since the file does not contain them: ${formatCount(missing.length)}${attached}`
  await confirm({
    message: what,
    isConfirmed: asked.yes === true,
    nonInteractiveMessage: `${what}. Confirm with --yes, or preview the result with --dry-run`,
    declinedMessage: 'Cancelled; nothing was written',
  })
}

async function carryOut(
  { installation, asked, report, by, findings }: ImportContext,
  { id, done, total }: { readonly id: string; readonly done: number; readonly total: number },
  steps: ImportBulks,
): Promise<void> {
  const signal = listenForStop()
  const undo = await writeUndoFile(installation.settings.DATA_DIR, {
    format: 'adamant-undo/1',
    import: id,
    account: by.owner,
    email: asked.user,
    log: await installation.store.identity(),
    file: basename(asked.file),
    at: new Date(installation.writing.clock()).toISOString(),
  })
  note(`undo file: ${undo}`)
  // All runs of one import use its id as correlation id.
  const named: CommandPrincipal = { ...by, origin: { ...by.origin, correlation: id } }
  const { position, ...counts } = await writeBulks(
    { installation, by: named, id, completedBulks: done, total, signal },
    steps,
  )
  await awaitReadModels(installation, position ?? 'start')
  if (position === undefined) await unlink(undo)
  report.print(counts, describeResult(counts, asked, findings), { undo: position === undefined ? null : undo })
}
