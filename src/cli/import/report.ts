import { BadUsage, OperationFailure } from '../../maintenance/operation.ts'
import { formatCount, formatQuantity, note, printResult, type OutputOptions } from '../output.ts'
import {
  MAX_LISTED_VALUES,
  type ContentSummary,
  type CountedTexts,
  type LineCount,
  type FieldSummary,
  type Findings,
} from '../../trade-files/findings.ts'
import {
  UnclearFile,
  UnreadableFile,
  UnusableOption,
  type FileColumn,
  type Question,
  type Remark,
} from '../../trade-files/errors.ts'
import type { BadLine } from '../../trade-files/lines.ts'
import { isStored } from '../../trade-files/line-properties.ts'
import type { ImportSource, ReadingOptions } from '../../trade-files/source.ts'
import type { ImportCounts } from '../../domain/imports/stock-import.ts'

/** The options of an import. */
export type ImportRequest = OutputOptions &
  ReadingOptions & {
    readonly user: string
    /** The file's name, or `-`. */
    readonly file: string
    readonly skipBad?: true
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
    for (const badLine of badLines) note(`line ${badLine.line}: ${messagesOf(badLine).join('; ')}`)
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
    const bad = this.findings.badLines.map((badLine) => ({ line: badLine.line, problems: messagesOf(badLine) }))
    const result = {
      ...counts,
      refused: bad.length,
      hidden: this.findings.hiddenCount,
      unavailable: this.findings.unavailable.counts,
      mapping: Object.fromEntries(this.source.columns.map(({ name, content }) => [name, storedContentOf(content)])),
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

const messagesOf = ({ problems }: BadLine): readonly string[] => problems.map(({ message }) => message)

const storedContentOf = (content: string | null): string | null =>
  content === null || !isStored(content) ? null : content

/** Format and columns as text, for the operator to check. */
export function describeSource({ format, columns, remarks }: ImportSource): string {
  const first = columns.length === 0 ? format : `columns: ${columns.map(describeColumn).join(', ')} (${format})`
  return [first, ...remarks.map(describeRemark)].join('\n')
}

function describeColumn({ name, content }: FileColumn): string {
  if (content === null) return `${name} (ignored)`
  if (!isStored(content)) return `${name} (checked)`
  return name === content ? name : `${name} = ${content}`
}

const describeRemark = ({ text, option }: Remark): string =>
  option === undefined ? text : `${text} (${REMARK_OPTIONS[option]})`

const REMARK_OPTIONS = {
  includeHidden: 'use --include-hidden to read them',
  sheet: 'use --sheet to read another one',
}

/** What a file leaves open, and the options that decide. */
const describeQuestion = (question: Question): string => `${question.ask}${REMEDIES[question.kind](question)}`

const REMEDIES: Readonly<Record<Question['kind'], (question: Question) => string>> = {
  'unknown column': () => ' (use --ignore-unknown to ignore it)',
  'column without heading': ({ column }) => `; use --map ${shellQuote(`${column}=`)} to ignore it`,
  'several columns for a field': () => " (use --map 'COLUMN=' to ignore one)",
  'field without column': () => '',
  'price per carat': ({ column }) =>
    `: use --map ${shellQuote(`${column}=price`)} if it is the price of the stone, or --map ${shellQuote(`${column}=`)} to ignore it`,
  'decimal separator': () => '; give the decimal separator with --decimal . or --decimal ,',
  sheet: () => ' with --sheet',
}

/** An error of reading a file as a usage error or a failure that names the file and the options; others unchanged. */
export function explainFileError(error: unknown, file: string): unknown {
  if (error instanceof UnusableOption) return new BadUsage(describeUnusableOption(error))
  if (!(error instanceof UnclearFile || error instanceof UnreadableFile)) return error
  const remarks = error.remarks.map(describeRemark)
  if (error instanceof UnreadableFile) return new OperationFailure([`${file} ${error.reason}`, ...remarks].join('\n'))
  return new BadUsage([...new Set(error.questions.map(describeQuestion)), ...remarks].join('\n'))
}

const describeUnusableOption = ({ option, key, reason }: UnusableOption): string =>
  `${OPTION_NAMES[option]}${key === undefined ? '' : ` ${key}`} ${reason}`

const OPTION_NAMES = { map: '--map', mapValue: '--map-value', sheet: '--sheet' }

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
