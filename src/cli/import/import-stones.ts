import { randomUUID } from 'node:crypto'
import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import type { Installation } from '../../wiring/installation.ts'
import { confirm } from '../confirm.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { createOperatorOrigin } from '../with-installation.ts'
import { formatCount, note } from '../output.ts'
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

/** Imports a file: reads all of it first, and then again to write it. @throws Failed, BadUsage, Refusal */
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
      `${formatCount(findings.badLines.length)} of ${formatCount(all)} lines can not be used; nothing was written`,
    )
  }
  const usable = () => findings.usableLines(lines())
  const work = { installation, asked, findings, report, by: { owner, origin: createOperatorOrigin() }, usable }
  await (stock === undefined ? create(work, await source.digest()) : update(work, stock))
  report.noteShapes()
}

/** @param file the digest of its bytes */
async function create(work: ImportContext, file: string): Promise<void> {
  const { installation, asked, findings, report, by, usable } = work
  const { usableCount } = findings
  // The same file may be understood in another way, by --map or --skip-bad: its stones are then others.
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
    const text = `nothing was written: the stones of this very file were imported before, at ${lastWrittenAt}; --again creates them once more`
    return report.print({ ...ZERO_COUNTS, unchanged: usableCount }, text)
  }
  if (asked.dryRun === true) {
    const would = { ...ZERO_COUNTS, created: usableCount - before, unchanged: before }
    return report.print(ZERO_COUNTS, describeDryRun(would, asked), { would })
  }
  if (before > 0)
    note(`an earlier run has written ${formatCount(before)} of these stones: this one goes on behind them`)
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

/** @throws Failed where it would be all there is, for a file without a stone: it was cut off, or is another one */
function missingIn({ usableCount, hasSku }: Findings, { skus }: Stock): number[] {
  const missing = [...skus].filter(([, sku]) => !hasSku(sku)).map(([id]) => id)
  if (usableCount > 0 || missing.length === 0) return missing
  throw new OperationFailure(
    'The file has no stone at all: --delete-missing does not delete a whole inventory for that',
  )
}

async function confirmDeletion(
  asked: ImportRequest,
  missing: readonly number[],
  { idsWithAttachments }: Stock,
): Promise<void> {
  const lost = missing.filter((id) => idsWithAttachments.has(id)).length
  const attached =
    lost === 0 ? '' : `; ${formatCount(lost)} of them have certificates or 3D models, which --undo does not bring back`
  const what = `${formatCount(missing.length)} stones of ${asked.user} are not in the file and will be deleted${attached}`
  await confirm({
    message: what,
    isConfirmed: asked.yes === true,
    nonInteractiveMessage: `${what}: say so with --yes, or look with --dry-run`,
    declinedMessage: 'Nothing was written',
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
  // Runs of one import go under one id, whichever of them wrote an event.
  const named: CommandPrincipal = { ...by, origin: { ...by.origin, correlation: id } }
  const { position, ...counts } = await writeBulks(
    { installation, by: named, id, completedBulks: done, total, signal },
    steps,
  )
  await awaitReadModels(installation, position ?? 'start')
  if (position === undefined) await unlink(undo)
  report.print(counts, describeResult(counts, asked, findings), { undo: position === undefined ? null : undo })
}
