import { randomUUID } from 'node:crypto'
import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { By } from '../../commands/diamonds/diamonds.ts'
import type { Installation } from '../../wiring/installation.ts'
import { confirm } from '../confirm.ts'
import { Failed } from '../../maintenance/operation.ts'
import { operator } from '../installed.ts'
import { count, note } from '../output.ts'
import { awaitReadModels } from '../read-models.ts'
import { listenForStop } from '../process-end.ts'
import type { GivenValue, Mapping } from './columns.ts'
import { findingsOf, type Findings } from './findings.ts'
import { stockOf, type Stock } from './inventory.ts'
import { readLines } from './lines.ts'
import { did, NOTHING, Report, wouldDo, type Asked } from './report.ts'
import { openSource } from './source.ts'
import { BULK, counted, creating, deleting, standingOf, updating, written, type Steps } from './write.ts'
import { writeUndoFile } from './undo.ts'

type Work = {
  readonly installation: Installation
  readonly asked: Asked
  readonly findings: Findings
  readonly report: Report
  readonly by: By
  readonly usable: () => ReturnType<Findings['usable']>
}

/** Imports a file: reads all of it first, and then again to write it. @throws Failed, BadUsage, Refusal */
export async function importStones(
  installation: Installation,
  path: string,
  owner: number,
  asked: Asked & { readonly mapping: Mapping; readonly values: readonly GivenValue[] },
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
  note(source.described)
  const stock = isUpdate ? await stockOf(installation.writing, owner) : undefined
  const lines = () => readLines(source.entries(), isUpdate ? 'stones by sku' : 'new stones', stock?.ownShapes)
  const findings = await findingsOf(lines(), stock)
  const report = new Report(source, findings, asked)
  report.noteContents()
  report.noteTexts()
  report.noteProblems()
  if (findings.bad.length > 0 && asked.skipBad !== true) {
    if (asked.json === true) report.print(NOTHING, '')
    const all = findings.good + findings.bad.length
    throw new Failed(`${count(findings.bad.length)} of ${count(all)} lines can not be used; nothing was written`)
  }
  const usable = () => findings.usable(lines())
  const work = { installation, asked, findings, report, by: { owner, origin: operator() }, usable }
  await (stock === undefined ? create(work, await source.digest()) : update(work, stock))
  report.noteShapes()
}

/** @param file the digest of its bytes */
async function create(work: Work, file: string): Promise<void> {
  const { installation, asked, findings, report, by, usable } = work
  const { good } = findings
  // The same file may be understood in another way, by --map or --skip-bad: its stones are then others.
  const digest = `${file}/${findings.digest}`
  const bulks = Math.ceil(good / BULK)
  const again = asked.again === true
  const { id, done, at } = await standingOf(installation.writing, { account: by.owner, digest, bulks, again })
  const before = Math.min(done * BULK, good)
  if (good > 0 && before === good) {
    const text = `nothing was written: the stones of this very file were imported before, at ${at}; --again creates them once more`
    return report.print({ ...NOTHING, unchanged: good }, text)
  }
  if (asked.dryRun === true) {
    const would = { ...NOTHING, created: good - before, unchanged: before }
    return report.print(NOTHING, wouldDo(would, asked), { would })
  }
  if (before > 0) note(`an earlier run has written ${count(before)} of these stones: this one goes on behind them`)
  await carryOut(work, { id, done, total: good }, creating(usable()))
}

async function update(work: Work, stock: Stock): Promise<void> {
  const { installation, asked, findings, report, by, usable } = work
  const missing = asked.deleteMissing === true ? missingIn(findings, stock) : []
  async function* steps(who: By) {
    yield* updating(usable(), stock, who)
    yield* deleting(missing, who)
  }
  if (asked.dryRun === true) {
    const would = await counted(installation, by, steps(by))
    return report.print(NOTHING, wouldDo(would, asked), { would })
  }
  if (missing.length > 0) await confirmDeletion(asked, missing, stock)
  await carryOut(work, { id: randomUUID(), done: 0, total: findings.good + missing.length }, steps(by))
}

/** @throws Failed where it would be all there is, for a file without a stone: it was cut off, or is another one */
function missingIn({ good, names }: Findings, { skus }: Stock): number[] {
  const missing = [...skus].filter(([, sku]) => !names(sku)).map(([id]) => id)
  if (good > 0 || missing.length === 0) return missing
  throw new Failed('The file has no stone at all: --delete-missing does not delete a whole inventory for that')
}

async function confirmDeletion(asked: Asked, missing: readonly number[], { enriched }: Stock): Promise<void> {
  const lost = missing.filter((id) => enriched.has(id)).length
  const attached =
    lost === 0 ? '' : `; ${count(lost)} of them have certificates or 3D models, which --undo does not bring back`
  const what = `${count(missing.length)} stones of ${asked.user} are not in the file and will be deleted${attached}`
  await confirm({
    what,
    yes: asked.yes === true,
    instead: `${what}: say so with --yes, or look with --dry-run`,
    refused: 'Nothing was written',
  })
}

async function carryOut(
  { installation, asked, report, by, findings }: Work,
  { id, done, total }: { readonly id: string; readonly done: number; readonly total: number },
  steps: Steps,
): Promise<void> {
  const signal = listenForStop()
  const undo = await writeUndoFile(installation.settings.DATA_DIR, {
    format: 'adamant-undo/1',
    import: id,
    account: by.owner,
    email: asked.user,
    log: await installation.store.identity(),
    file: basename(asked.given),
    at: new Date(installation.writing.clock()).toISOString(),
  })
  note(`undo file: ${undo}`)
  // Runs of one import go under one id, whichever of them wrote an event.
  const named: By = { ...by, origin: { ...by.origin, correlation: id } }
  const { position, ...counts } = await written({ installation, by: named, id, done, total, signal }, steps)
  await awaitReadModels(installation, position ?? 'start')
  if (position === undefined) await unlink(undo)
  report.print(counts, did(counts, asked, findings), { undo: position === undefined ? null : undo })
}
