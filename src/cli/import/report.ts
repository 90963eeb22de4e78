import { count, note, printResult, type OutputOptions } from '../output.ts'
import type { Findings } from './findings.ts'
import type { Decimal } from './numbers.ts'
import type { Source } from './source.ts'
import type { Counts } from './write.ts'

/** What the command line asks an import for. */
export type Asked = OutputOptions & {
  readonly user: string
  /** The file's name, or `-`. */
  readonly given: string
  readonly skipBad?: true
  readonly ignoreUnknown?: true
  readonly decimal?: Decimal
  readonly sheet?: string
  readonly dryRun?: true
  readonly updateBy?: 'sku'
  readonly deleteMissing?: true
  readonly yes?: true
  readonly again?: true
}

/** Texts that a refusal asks about. */
const SHOWN = 20

/** A word of a shell's command line. */
const shell = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

export const NOTHING: Counts = { created: 0, changed: 0, unchanged: 0, deleted: 0 }

/** What is said about an import, on stderr as it goes on, and on stdout at its end. */
export class Report {
  readonly #started = performance.now()

  constructor(
    private readonly source: Source,
    private readonly findings: Findings,
    private readonly asked: Asked,
  ) {}

  /** All that is wrong with the file, line by line, and how to say what a text means. */
  noteProblems(): void {
    const { bad } = this.findings
    for (const { line, problems } of bad) note(`line ${line}: ${problems.join('; ')}`)
    const unread = bad.flatMap((one) => one.unread ?? []).map(({ column, text }) => `${column}:${text}`)
    for (const one of [...new Set(unread)].slice(0, SHOWN))
      note(`to say what it means: --map-value ${shell(`${one}=VALUE`)}`)
  }

  /** What was stored of texts that say more, or something between. */
  noteTexts(): void {
    for (const told of this.findings.notes.told) note(told)
  }

  /** What a dry run shows of the stones. */
  noteContents(): void {
    if (this.asked.dryRun === true) for (const line of this.findings.contents.told) note(line)
  }

  noteShapes(): void {
    const { told } = this.findings.shapes
    if (told.length > 0) note(`cut shapes that no dictionary knows, kept as written: ${told.join(', ')}`)
  }

  /** @param more the undo file, and what a dry run would do */
  print(counts: Counts, text: string, more: { readonly undo?: string | null; readonly would?: Counts } = {}): void {
    const { shapes, notes, contents } = this.findings
    const bad = this.findings.bad.map(({ line, problems }) => ({ line, problems }))
    const result = {
      ...counts,
      refused: bad.length,
      mapping: this.source.mapping,
      undo: more.undo ?? null,
      ...(more.would && { would: more.would }),
      ...(this.asked.dryRun === true && { first: contents.first, fields: contents.fields }),
      ownShapes: shapes.counts,
      notes: notes.counts,
      imported: counts.created,
      bad,
      seconds: (performance.now() - this.#started) / 1000,
    }
    printResult(this.asked, result, text)
  }
}

/** What an import did, for people. */
export function did({ created, changed, unchanged, deleted }: Counts, asked: Asked, { bad }: Findings): string {
  const { user, updateBy } = asked
  const left = bad.length === 0 ? '' : `, ${count(bad.length)} lines left out`
  if (updateBy === undefined) return `imported ${count(created)} stones of ${user}${left}`
  const stones = `deleted ${count(deleted)} stones of ${user}`
  return `created ${count(created)}, changed ${count(changed)}, left ${count(unchanged)} as they were, ${stones}${left}`
}

/** What a dry run would do, for people. */
export function wouldDo({ created, changed, unchanged, deleted }: Counts, { updateBy }: Asked): string {
  if (updateBy === undefined) return `${count(created)} stones can be imported; nothing was written`
  const left = `leave ${count(unchanged)} as they are`
  return `would create ${count(created)}, change ${count(changed)}, ${left}, delete ${count(deleted)} stones; nothing was written`
}
