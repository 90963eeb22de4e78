import { formatCount, note, printResult, type OutputOptions } from '../output.ts'
import type { Findings } from './findings.ts'
import type { DecimalSeparator } from './numbers.ts'
import type { ImportSource } from './source.ts'
import type { ImportCounts } from './write.ts'

/** What the command line asks an import for. */
export type ImportRequest = OutputOptions & {
  readonly user: string
  /** The file's name, or `-`. */
  readonly file: string
  readonly skipBad?: true
  readonly ignoreUnknown?: true
  readonly decimal?: DecimalSeparator
  readonly sheet?: string
  readonly dryRun?: true
  readonly updateBy?: 'sku'
  readonly deleteMissing?: true
  readonly yes?: true
  readonly again?: true
}

/** Texts that a refusal asks about. */
const MAX_SUGGESTIONS = 20

/** A word of a shell's command line. */
const shellQuote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

export const ZERO_COUNTS: ImportCounts = { created: 0, changed: 0, unchanged: 0, deleted: 0 }

/** What is said about an import, on stderr as it goes on, and on stdout at its end. */
export class ImportReport {
  readonly #started = performance.now()

  constructor(
    private readonly source: ImportSource,
    private readonly findings: Findings,
    private readonly request: ImportRequest,
  ) {}

  /** All that is wrong with the file, line by line, and how to say what a text means. */
  noteProblems(): void {
    const { badLines } = this.findings
    for (const { line, problems } of badLines) note(`line ${line}: ${problems.join('; ')}`)
    const unread = badLines.flatMap((one) => one.unread ?? []).map(({ column, text }) => `${column}:${text}`)
    for (const one of [...new Set(unread)].slice(0, MAX_SUGGESTIONS))
      note(`to say what it means: --map-value ${shellQuote(`${one}=VALUE`)}`)
  }

  /** What was stored of texts that say more, or something between. */
  noteTexts(): void {
    for (const told of this.findings.notes.summaryLines) note(told)
  }

  /** What a dry run shows of the stones. */
  noteContents(): void {
    if (this.request.dryRun === true) for (const line of this.findings.contents.summaryLines) note(line)
  }

  noteShapes(): void {
    const { summaryLines } = this.findings.customShapes
    if (summaryLines.length > 0)
      note(`cut shapes that no dictionary knows, kept as written: ${summaryLines.join(', ')}`)
  }

  /** @param more the undo file, and what a dry run would do */
  print(
    counts: ImportCounts,
    text: string,
    more: { readonly undo?: string | null; readonly would?: ImportCounts } = {},
  ): void {
    const { customShapes, notes, contents } = this.findings
    const bad = this.findings.badLines.map(({ line, problems }) => ({ line, problems }))
    const result = {
      ...counts,
      refused: bad.length,
      mapping: this.source.mapping,
      undo: more.undo ?? null,
      ...(more.would && { would: more.would }),
      ...(this.request.dryRun === true && { first: contents.first, fields: contents.fields }),
      ownShapes: customShapes.counts,
      notes: notes.counts,
      imported: counts.created,
      bad,
      seconds: (performance.now() - this.#started) / 1000,
    }
    printResult(this.request, result, text)
  }
}

/** What an import did, for people. */
export function describeResult(
  { created, changed, unchanged, deleted }: ImportCounts,
  asked: ImportRequest,
  { badLines }: Findings,
): string {
  const { user, updateBy } = asked
  const left = badLines.length === 0 ? '' : `, ${formatCount(badLines.length)} lines left out`
  if (updateBy === undefined) return `imported ${formatCount(created)} stones of ${user}${left}`
  const stones = `deleted ${formatCount(deleted)} stones of ${user}`
  return `created ${formatCount(created)}, changed ${formatCount(changed)}, left ${formatCount(unchanged)} as they were, ${stones}${left}`
}

/** What a dry run would do, for people. */
export function describeDryRun(
  { created, changed, unchanged, deleted }: ImportCounts,
  { updateBy }: ImportRequest,
): string {
  if (updateBy === undefined) return `${formatCount(created)} stones can be imported; nothing was written`
  const left = `leave ${formatCount(unchanged)} as they are`
  return `would create ${formatCount(created)}, change ${formatCount(changed)}, ${left}, delete ${formatCount(deleted)} stones; nothing was written`
}
