import { createHash } from 'node:crypto'
import { FIELDS, fieldsOf, type DiamondFieldChanges, type FieldName } from '../domain/diamond/fields.ts'
import { jsonWriterOf } from '../representations/diamond/diamond-json.ts'
import { listFirst } from './errors.ts'
import { missingFieldsOf, type BadLine, type ImportLine, type InvalidCell } from './lines.ts'

/** Texts that are listed by name. Limited, since a column that was mistaken for shapes may have a different text in every line. */
const MAX_LISTED_TEXTS = 20

/** Counts stones by a text. */
export class CountedTexts {
  readonly #stones = new Map<string, number>()
  #unlistedCount = 0

  add(text: string): void {
    const previousCount = this.#stones.get(text)
    if (previousCount === undefined && this.#stones.size === MAX_LISTED_TEXTS) this.#unlistedCount++
    else this.#stones.set(text, (previousCount ?? 0) + 1)
  }

  /** Stones by text, for the listed texts. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#stones)
  }

  /** Number of stones with other texts. */
  get unlistedCount(): number {
    return this.#unlistedCount
  }
}

type SummaryValue = string | number | boolean | null

/** Number of stones of a file that have a field, and the range or the distinct values of the field. */
export type FieldSummary = {
  readonly stones: number
  readonly from?: number
  readonly to?: number
  readonly values?: readonly SummaryValue[]
}

/** Stones that a dry run shows in full. */
const SAMPLE_STONES = 3
/** Distinct values of a field that are listed. */
export const MAX_LISTED_VALUES = 12

const MEMBERS = fieldsOf('v4').map((name) => ({ name, write: jsonWriterOf(FIELDS[name], 'v4') }))

/** Summary of the stones of a file as they would be stored, so that the operator notices misread columns. */
export class ContentSummary {
  readonly sampleStones: Readonly<Record<string, SummaryValue>>[] = []
  readonly #fields = new Map<FieldName, FieldStatistics>()
  #stones = 0

  /** Number of stones. */
  get stones(): number {
    return this.#stones
  }

  add({ set }: DiamondFieldChanges): void {
    this.#stones++
    const stone: Record<string, SummaryValue> = {}
    for (const { name, write } of MEMBERS) {
      if (set[name] === undefined) continue
      const value = JSON.parse(write(set[name])) as SummaryValue
      stone[name] = value
      const field = this.#fields.get(name) ?? new FieldStatistics(name)
      this.#fields.set(name, field)
      field.add(value)
    }
    if (this.sampleStones.length < SAMPLE_STONES) this.sampleStones.push(stone)
  }

  /** In the order of a diamond's JSON. */
  get fields(): Readonly<Partial<Record<FieldName, FieldSummary>>> {
    const summaries = MEMBERS.flatMap(({ name }) => {
      const field = this.#fields.get(name)
      return field === undefined ? [] : [[name, field.summary] as const]
    })
    return Object.fromEntries(summaries)
  }
}

class FieldStatistics {
  #stones = 0
  #from = Infinity
  #to = -Infinity
  readonly #values = new Set<SummaryValue>()

  constructor(private readonly name: FieldName) {}

  add(value: SummaryValue): void {
    this.#stones++
    if (typeof value === 'number') {
      this.#from = Math.min(this.#from, value)
      this.#to = Math.max(this.#to, value)
    }
    if (this.#values.size < MAX_LISTED_VALUES) this.#values.add(value)
  }

  get summary(): FieldSummary {
    const stones = this.#stones
    switch (FIELDS[this.name].kind) {
      case 'amount':
      case 'level':
        return { stones, from: this.#from, to: this.#to }
      case 'text':
        return { stones }
      default:
        return { stones, values: [...this.#values] }
    }
  }
}

/** The result of validating a whole file. */
export type Findings = {
  /** Number of valid lines. */
  readonly usableCount: number
  readonly badLines: readonly BadLine[]
  /** Cut shapes that are in no dictionary. */
  readonly customShapes: CountedTexts
  /** Notes on cells of which only a part is stored. */
  readonly notes: CountedTexts
  readonly contents: ContentSummary
  /** Number of hidden lines. */
  readonly hiddenCount: number
  /** SHA-256 of the valid lines, in order. */
  readonly digest: string
  /** Selects the valid lines when the file is read again. */
  usableLines(lines: AsyncIterable<ImportLine>): AsyncGenerator<UsableLine>
  /** Whether a line whose cells could be read, or a hidden line, has this sku. */
  hasSku(sku: string): boolean
}

export type UsableLine = Extract<ImportLine, { change: DiamondFieldChanges }>

/** The stones of the account before the import. */
export type KnownStones = {
  /** Ids of the stones with this sku; usually one. */
  bySku(sku: string): readonly number[]
}

/** Validates a whole file before anything is written. @param stock the account's stones, for an update by sku */
export async function collectFindings(
  lines: AsyncIterable<ImportLine>,
  stock: KnownStones | undefined,
): Promise<Findings> {
  const badLines: { line: number; problems: readonly string[]; invalidCells?: readonly InvalidCell[] }[] = []
  const customShapes = new CountedTexts()
  const notes = new CountedTexts()
  const contents = new ContentSummary()
  const digest = createHash('sha256')
  const skus = new Skus()
  const hiddenSkus = new Set<unknown>()
  let hiddenCount = 0
  let usableCount = 0
  for await (const line of lines) {
    if ('hiddenSku' in line) {
      hiddenCount++
      hiddenSkus.add(line.hiddenSku)
      continue
    }
    const problems = problemsOf(line, stock)
    const { sku } = 'change' in line ? line.change.set : {}
    const firstLine = stock && sku !== undefined ? skus.add(sku, line.line) : undefined
    if (firstLine === undefined && problems.length === 0 && 'change' in line) {
      usableCount++
      digest.update(`${JSON.stringify(line.change.set)}\n`)
      const { cutShape } = line.change.set
      if (typeof cutShape === 'string') customShapes.add(cutShape)
      for (const note of line.notes ?? []) notes.add(note)
      contents.add(line.change)
      continue
    }
    const duplicateProblems = firstLine === undefined ? [] : [`sku ${sku} is a duplicate of line ${firstLine}`]
    const invalidCells = 'invalidCells' in line ? line.invalidCells : undefined
    badLines.push({
      line: line.line,
      problems: [...problems, ...duplicateProblems],
      ...(invalidCells && { invalidCells }),
    })
  }
  for (const { sku, line, duplicateLines } of skus.duplicates()) {
    const badLine = badLines.find((one) => one.line === line)
    const problem = `sku ${sku} is duplicated in line ${duplicateLines}`
    if (badLine === undefined) {
      usableCount--
      badLines.push({ line, problems: [problem] })
    } else badLine.problems = [...badLine.problems, problem]
  }
  badLines.sort((one, other) => one.line - other.line)
  const badLineNumbers = new Set(badLines.map(({ line }) => line))
  return {
    usableCount,
    badLines,
    customShapes,
    notes,
    contents,
    digest: digest.digest('hex'),
    hiddenCount,
    hasSku: (sku) => skus.has(sku) || hiddenSkus.has(sku),
    async *usableLines(secondPass) {
      for await (const line of secondPass) if ('change' in line && !badLineNumbers.has(line.line)) yield line
    },
  }
}

/** The problems of a line; with `stock`, also an ambiguous sku and missing fields of a new stone. */
function problemsOf(line: UsableLine | BadLine, stock: KnownStones | undefined): readonly string[] {
  if ('problems' in line) return line.problems
  if (stock === undefined) return []
  const ids = stock.bySku(line.change.set.sku ?? '')
  if (ids.length > 1) return [`sku ${line.change.set.sku} is ambiguous: diamonds ${listFirst(ids)} have it`]
  return ids.length === 1 ? [] : missingFieldsOf(line.change).map((name) => `${name} is required for a new diamond`)
}

/** The skus of a file with their first line, and the further lines of duplicates. */
class Skus {
  readonly #firstLines = new Map<string, number>()
  readonly #duplicateLines = new Map<string, number[]>()

  /** @returns the first line with this sku, if there was one before */
  add(sku: string, line: number): number | undefined {
    const first = this.#firstLines.get(sku)
    if (first === undefined) this.#firstLines.set(sku, line)
    else if (this.#duplicateLines.get(sku)?.push(line) === undefined) this.#duplicateLines.set(sku, [line])
    return first
  }

  has(sku: string): boolean {
    return this.#firstLines.has(sku)
  }

  *duplicates(): Generator<{ readonly sku: string; readonly line: number; readonly duplicateLines: string }> {
    for (const [sku, lines] of this.#duplicateLines)
      yield { sku, line: this.#firstLines.get(sku) ?? 0, duplicateLines: listFirst(lines) }
  }
}
