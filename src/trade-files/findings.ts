import { createHash } from 'node:crypto'
import { FIELDS, fieldsOf, isProportion, type DiamondFieldChanges, type FieldName } from '../domain/diamond/fields.ts'
import { describeLookAlikes, plainText } from '../domain/look-alikes.ts'
import { jsonWriterOf } from '../representations/diamond/diamond-json.ts'
import { listFirst } from './errors.ts'
import type { KnownStock } from './known-stones.ts'
import { missingFieldsOf, type BadLine, type ImportLine, type InvalidCell, type Problem } from './lines.ts'

/** Texts that are listed by name. Limited, since a column that was mistaken for shapes may have a different text in every line. */
const MAX_LISTED_TEXTS = 20

/** Number of lines with a text. */
export type LineCount = { readonly lines: number; readonly firstLine: number }

/** Counts lines by a text. */
export class CountedTexts {
  readonly #texts = new Map<string, LineCount>()
  #unlistedCount = 0

  add(text: string, line: number): void {
    const { lines = 0, firstLine = line } = this.#texts.get(text) ?? {}
    if (lines === 0 && this.#texts.size === MAX_LISTED_TEXTS) this.#unlistedCount++
    else this.#texts.set(text, { lines: lines + 1, firstLine })
  }

  /** The listed texts. */
  get listed(): ReadonlyMap<string, LineCount> {
    return this.#texts
  }

  /** Lines by text, for the listed texts. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#texts].map(([text, { lines }]) => [text, lines]))
  }

  /** Number of lines with other texts. */
  get unlistedCount(): number {
    return this.#unlistedCount
  }

  /** Number of all lines. */
  get lines(): number {
    return [...this.#texts.values()].reduce((sum, { lines }) => sum + lines, this.#unlistedCount)
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

  add({ change: { set }, report }: UsableLine): void {
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
    if (report !== undefined && report !== null)
      Object.assign(stone, {
        'certification.laboratory': report.laboratory,
        'certification.number': report.number,
        ...(report.file && { 'certification.file': report.file.name }),
      })
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
  /** Of these, those of stones that the account does not have, and the reports of those. */
  readonly newCount: number
  readonly newReportCount: number
  readonly badLines: readonly BadLine[]
  /** Cut shapes that are in no dictionary. */
  readonly customShapes: CountedTexts
  /** Notes on cells of which only a part is stored. */
  readonly notes: CountedTexts
  readonly contents: ContentSummary
  /** Number of hidden lines. */
  readonly hiddenCount: number
  /** Lines that are left out since they are not for sale, by the word that says so. */
  readonly unavailable: CountedTexts
  /** SHA-256 of the valid lines, in order: of the fields that each release reads, so that an upgrade knows imported files. */
  readonly digest: string
  /** Selects the valid lines when the file is read again. */
  usableLines(lines: AsyncIterable<ImportLine>): AsyncGenerator<UsableLine>
  /** Whether a line whose cells could be read, or one that is left out, has this sku. */
  hasSku(sku: string): boolean
}

export type UsableLine = Extract<ImportLine, { change: DiamondFieldChanges }>

/** Validates a whole file before anything is written. @param stock the account's stones, for an update by sku */
export async function collectFindings(
  lines: AsyncIterable<ImportLine>,
  stock: KnownStock | undefined,
): Promise<Findings> {
  const badLines: { line: number; problems: readonly Problem[]; invalidCells?: readonly InvalidCell[] }[] = []
  const customShapes = new CountedTexts()
  const notes = new CountedTexts()
  const contents = new ContentSummary()
  const digest = createHash('sha256')
  const skus = new Skus(stock)
  const omittedSkus = new Set<string>()
  const unavailable = new CountedTexts()
  /** What the valid lines become. */
  const usable = new Map<number, 'a known stone' | 'a new stone' | 'a new stone with a report'>()
  let hiddenCount = 0
  for await (const line of lines) {
    if ('omittedSku' in line) {
      omittedSkus.add(plainText(String(line.omittedSku)))
      if (line.availability === undefined) hiddenCount++
      else unavailable.add(line.availability, line.line)
      continue
    }
    const problems = problemsOf(line, stock)
    const conflict = 'change' in line ? skus.add(line) : undefined
    if (conflict === undefined && problems.length === 0 && 'change' in line) {
      const isKnown = stock !== undefined && stock.bySku(line.change.set.sku ?? '').length > 0
      const hasReport = line.report !== undefined && line.report !== null
      usable.set(line.line, isKnown ? 'a known stone' : hasReport ? 'a new stone with a report' : 'a new stone')
      digest.update(`${JSON.stringify(line.change.set, withoutProportions)}\n`)
      const { cutShape } = line.change.set
      if (typeof cutShape === 'string') customShapes.add(cutShape, line.line)
      for (const note of line.notes ?? []) notes.add(note, line.line)
      contents.add(line)
      continue
    }
    const invalidCells = 'invalidCells' in line ? line.invalidCells : undefined
    badLines.push({
      line: line.line,
      problems: conflict === undefined ? problems : [...problems, { message: conflict }],
      ...(invalidCells && { invalidCells }),
    })
  }
  for (const { line, problem } of skus.problemsOfFirstLines()) {
    const badLine = badLines.find((one) => one.line === line)
    if (badLine === undefined) {
      usable.delete(line)
      badLines.push({ line, problems: [{ message: problem }] })
    } else badLine.problems = [...badLine.problems, { message: problem }]
  }
  badLines.sort((one, other) => one.line - other.line)
  const countOf = (kind: string) => [...usable.values()].filter((one) => one === kind).length
  const badLineNumbers = new Set(badLines.map(({ line }) => line))
  return {
    usableCount: usable.size,
    newCount: countOf('a new stone') + countOf('a new stone with a report'),
    newReportCount: countOf('a new stone with a report'),
    badLines,
    customShapes,
    notes,
    contents,
    digest: digest.digest('hex'),
    hiddenCount,
    unavailable,
    hasSku: (sku) => skus.has(sku) || omittedSkus.has(plainText(sku)),
    async *usableLines(secondPass) {
      for await (const line of secondPass) if ('change' in line && !badLineNumbers.has(line.line)) yield line
    },
  }
}

const withoutProportions = (name: string, value: unknown): unknown => (isProportion(name) ? undefined : value)

/** The problems of a line; with `stock`, also an ambiguous sku and missing fields of a new stone. */
function problemsOf(line: UsableLine | BadLine, stock: KnownStock | undefined): readonly Problem[] {
  if ('problems' in line) return line.problems
  if (stock === undefined) return []
  const { sku = '' } = line.change.set
  const ids = stock.bySku(sku)
  if (ids.length === 1) return []
  if (ids.length > 1) return [{ message: `sku ${sku} is ambiguous: diamonds ${listFirst(ids)} have it` }]
  const lookAlike = stock.lookAlikeOf(sku)
  if (lookAlike !== undefined)
    return [{ message: `sku ${describeSku(sku)} looks like ${describeSku(lookAlike.sku)} of diamond ${lookAlike.id}` }]
  return missingFieldsOf(line.change).map((name) => ({ message: `${name} is required for a new diamond` }))
}

/** A sku, with the look-alikes in it. */
function describeSku(sku: string): string {
  const lookAlikes = describeLookAlikes(sku)
  return lookAlikes === '' ? sku : `${sku} (with ${lookAlikes})`
}

/**
 * The skus of a file with their first line, and the further lines with the same sku or one that looks the same. The same sku is a
 * conflict for an update only.
 */
class Skus {
  readonly #firstLines = new Map<string, number>()
  /** First skus that are not plain. */
  readonly #lookAlikes = new Map<string, string>()
  readonly #conflictingLines = new Map<string, number[]>()

  constructor(private readonly stock: KnownStock | undefined) {}

  /** @returns the problem of the line, if an earlier line has this sku or one that looks the same */
  add({ line, change, plainSku }: UsableLine): string | undefined {
    const { sku } = change.set
    if (sku === undefined) return undefined
    const isKnown = this.stock !== undefined && this.stock.bySku(sku).length > 0
    const key = plainSku === undefined || isKnown ? sku : plainSku
    const firstLine = this.#firstLines.get(key)
    if (firstLine === undefined) {
      this.#firstLines.set(key, line)
      if (key !== sku) this.#lookAlikes.set(key, sku)
      return undefined
    }
    const firstSku = this.#skuOf(key)
    if (firstSku === sku && this.stock === undefined) return undefined
    if (this.#conflictingLines.get(key)?.push(line) === undefined) this.#conflictingLines.set(key, [line])
    return firstSku === sku
      ? `sku ${sku} is a duplicate of line ${firstLine}`
      : `sku ${describeSku(sku)} looks like ${describeSku(firstSku)} in line ${firstLine}`
  }

  has(sku: string): boolean {
    return this.#firstLines.has(sku)
  }

  *problemsOfFirstLines(): Generator<{ readonly line: number; readonly problem: string }> {
    for (const [key, lines] of this.#conflictingLines) {
      const problem = `sku ${describeSku(this.#skuOf(key))} is duplicated in line ${listFirst(lines)}`
      yield { line: this.#firstLines.get(key) ?? 0, problem }
    }
  }

  #skuOf(key: string): string {
    return this.#lookAlikes.get(key) ?? key
  }
}
