import { formatCount, formatQuantity, note, printResult, type OutputOptions } from '../output.ts'
import {
  MAX_LISTED_VALUES,
  type ContentSummary,
  type CountedTexts,
  type LineCount,
  type FieldSummary,
  type Findings,
} from '../../trade-files/findings.ts'
import type { DecimalSeparator } from '../../trade-files/numbers.ts'
import type { ImportSource } from '../../trade-files/source.ts'
import type { ImportCounts } from '../../commands/imports/write-bulks.ts'

/** The options of an import. */
export type ImportRequest = OutputOptions & {
  readonly user: string
  /** The file's name, or `-`. */
  readonly file: string
  readonly skipBad?: true
  readonly ignoreUnknown?: true
  readonly decimal?: DecimalSeparator
  readonly sheet?: string
  readonly includeHidden?: true
  readonly includeUnavailable?: true
  readonly dryRun?: true
  readonly updateBy?: 'sku'
  readonly deleteMissing?: true
  readonly yes?: true
  readonly again?: true
}

const MAX_SUGGESTIONS = 20

const shellQuote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

export const ZERO_COUNTS: ImportCounts = { created: 0, changed: 0, unchanged: 0, deleted: 0, certifications: 0 }

/** Reports an import: notes on stderr while it runs, the result on stdout. */
export class ImportReport {
  readonly #started = performance.now()

  constructor(
    private readonly source: ImportSource,
    private readonly findings: Findings,
    private readonly request: ImportRequest,
  ) {}

  /** The problems of each line, and how to map invalid texts. */
  noteProblems(): void {
    const { badLines } = this.findings
    for (const { line, problems } of badLines) note(`line ${line}: ${problems.join('; ')}`)
    const invalidTexts = badLines
      .flatMap((badLine) => badLine.invalidCells ?? [])
      .map(({ column, text }) => `${column}:${text}`)
    for (const invalidText of [...new Set(invalidTexts)].slice(0, MAX_SUGGESTIONS))
      note(`to map this text to a value: --map-value ${shellQuote(`${invalidText}=VALUE`)}`)
  }

  /** Cells of which only a part is stored. */
  noteTexts(): void {
    const describeLines = ({ lines, firstLine }: LineCount) =>
      lines === 1 ? `line ${firstLine}` : `${formatQuantity(lines, 'line')}, first ${firstLine}`
    for (const text of describeTexts(this.findings.notes, describeLines)) note(text)
  }

  /** Lines that are hidden or not for sale. */
  noteOmittedLines(): void {
    const { hiddenCount, unavailable } = this.findings
    if (hiddenCount > 0)
      note(`${formatQuantity(hiddenCount, 'hidden line')} left out (use --include-hidden to read them)`)
    const words = describeTexts(unavailable)
    if (words.length > 0)
      note(`left out, since they are not for sale: ${words.join(', ')} (use --include-unavailable to read them)`)
  }

  /** The summary of a dry run. */
  noteContents(): void {
    if (this.request.dryRun === true) for (const line of describeContents(this.findings.contents)) note(line)
  }

  noteShapes(): void {
    const shapes = describeTexts(this.findings.customShapes)
    if (shapes.length > 0) note(`unknown cut shapes, stored as written: ${shapes.join(', ')}`)
  }

  /** @param details the undo file, or the counts of a dry run */
  print(
    counts: ImportCounts,
    text: string,
    details: { readonly undo?: string | null; readonly plannedCounts?: ImportCounts } = {},
  ): void {
    const { customShapes, notes, contents } = this.findings
    const bad = this.findings.badLines.map(({ line, problems }) => ({ line, problems }))
    const result = {
      ...counts,
      refused: bad.length,
      hidden: this.findings.hiddenCount,
      unavailable: this.findings.unavailable.counts,
      mapping: this.source.mapping,
      undo: details.undo ?? null,
      ...(details.plannedCounts && { would: details.plannedCounts }),
      ...(this.request.dryRun === true && { first: contents.sampleStones, fields: contents.fields }),
      ownShapes: customShapes.counts,
      notes: notes.counts,
      imported: counts.created,
      bad,
      seconds: (performance.now() - this.#started) / 1000,
    }
    printResult(this.request, result, text)
  }
}

/** One text each, such as `Trilliant (2)`. */
function describeTexts(
  { listed, unlistedCount }: CountedTexts,
  describe = ({ lines }: LineCount) => formatCount(lines),
): readonly string[] {
  const texts = [...listed].map(([text, count]) => `${text} (${describe(count)})`)
  return unlistedCount === 0 ? texts : [...texts, `lines with other texts (${formatCount(unlistedCount)})`]
}

function describeContents({ sampleStones, fields, stones }: ContentSummary): readonly string[] {
  if (sampleStones.length === 0) return []
  const samples = sampleStones.map((stone) => {
    const members = Object.entries(stone).map(([name, value]) => `${name} ${String(value)}`)
    return `  ${members.join(', ')}`
  })
  const summaries = Object.entries(fields).map(([name, summary]) => `  ${name}: ${describeField(summary, stones)}`)
  return ['first stones as they would be stored:', ...samples, 'values of all stones:', ...summaries]
}

function describeField({ stones, from, to, values }: FieldSummary, all: number): string {
  const countText = stones === all ? '' : ` (${formatCount(stones)} of ${formatQuantity(all, 'stone')})`
  if (from !== undefined) return `${from} to ${to}${countText}`
  if (values === undefined) return formatQuantity(stones, 'text')
  return `${values.join(', ')}${values.length === MAX_LISTED_VALUES ? ' and possibly others' : ''}${countText}`
}

/** The result of an import as text. */
export function describeResult(
  { created, changed, unchanged, deleted, certifications }: ImportCounts,
  request: ImportRequest,
  { badLines }: Findings,
): string {
  const { user, updateBy } = request
  const skippedText = badLines.length === 0 ? '' : `, skipped ${formatQuantity(badLines.length, 'line')}`
  const otherTexts = `${describeAttached(certifications)}${skippedText}`
  if (updateBy === undefined) return `Imported ${formatQuantity(created, 'stone')} for ${user}${otherTexts}`
  return `Stones of ${user}: created ${formatCount(created)}, changed ${formatCount(changed)}, unchanged ${formatCount(unchanged)}, deleted ${formatCount(deleted)}${otherTexts}`
}

const describeAttached = (certifications: number): string =>
  certifications === 0 ? '' : `, certifications: ${formatCount(certifications)}`

/** The result of a dry run as text. */
export function describeDryRun(
  { created, changed, unchanged, deleted, certifications }: ImportCounts,
  { updateBy }: ImportRequest,
): string {
  const attachedText = describeAttached(certifications)
  if (updateBy === undefined)
    return `Would import ${formatQuantity(created, 'stone')}${attachedText}; nothing was written`
  return `Stones to create: ${formatCount(created)}, to change: ${formatCount(changed)}, unchanged: ${formatCount(unchanged)}, to delete: ${formatCount(deleted)}${attachedText}; nothing was written`
}
