import { createHash } from 'node:crypto'
import {
  FIELDS,
  fieldsOf,
  type DiamondFieldChanges,
  type FieldName,
  type NewDiamond,
} from '../../domain/diamond/fields.ts'
import { jsonWriterOf } from '../../representations/diamond/diamond-json.ts'
import { formatCount } from '../output.ts'
import type { Stock } from './stock.ts'
import { missingFieldsOf, type BadLine, type ImportLine, type InvalidCell } from './lines.ts'

/** Texts that are told by name; a column that is none of shapes may hold as many as there are stones. */
const MAX_LISTED_TEXTS = 20

/** Texts of a file, and how many stones have each. */
class CountedTexts {
  readonly #stones = new Map<string, number>()
  #others = 0

  add(text: string): void {
    const before = this.#stones.get(text)
    if (before === undefined && this.#stones.size === MAX_LISTED_TEXTS) this.#others++
    else this.#stones.set(text, (before ?? 0) + 1)
  }

  /** How many stones have each, as far as they are told by name. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#stones)
  }

  /** The same for people, `Trilliant (2)`; empty where there are none. */
  get summaryLines(): readonly string[] {
    const texts = [...this.#stones].map(([text, stones]) => `${text} (${formatCount(stones)})`)
    return this.#others === 0 ? texts : [...texts, `others of ${formatCount(this.#others)} stones`]
  }
}

type SummaryValue = string | number | boolean | null

/** What the stones of a file have in a field: how many have it, and between what, or which values. */
export type FieldSummary = {
  readonly stones: number
  readonly from?: number
  readonly to?: number
  readonly values?: readonly SummaryValue[]
}

/** Stones that are shown whole. */
const SAMPLE_STONES = 3
/** Values of a field that are named. */
const MAX_LISTED_VALUES = 12

const MEMBERS = fieldsOf('v4').map((name) => ({ name, write: jsonWriterOf(FIELDS[name], 'v4') }))

/** What a file's stones have, as they would be stored and shown, so that a person sees what was misread. */
class ContentSummary {
  readonly first: Readonly<Record<string, SummaryValue>>[] = []
  readonly #fields = new Map<FieldName, FieldStatistics>()
  #stones = 0

  add({ set }: DiamondFieldChanges): void {
    this.#stones++
    const shown: Record<string, SummaryValue> = {}
    for (const { name, write } of MEMBERS) {
      if (set[name] === undefined) continue
      const value = JSON.parse(write(set[name])) as SummaryValue
      shown[name] = value
      const field = this.#fields.get(name) ?? new FieldStatistics(name)
      this.#fields.set(name, field)
      field.add(value)
    }
    if (this.first.length < SAMPLE_STONES) this.first.push(shown)
  }

  /** By field, in the order of a diamond's body. */
  get fields(): Readonly<Partial<Record<FieldName, FieldSummary>>> {
    const held = MEMBERS.flatMap(({ name }) => {
      const field = this.#fields.get(name)
      return field === undefined ? [] : [[name, field.summary] as const]
    })
    return Object.fromEntries(held)
  }

  /** The same as lines for people. */
  get summaryLines(): readonly string[] {
    const stones = this.first.map((stone) => {
      const members = Object.entries(stone).map(([name, value]) => `${name} ${String(value)}`)
      return `  ${members.join(', ')}`
    })
    const fields = Object.entries(this.fields).map(([name, held]) => `  ${name}: ${this.#formatField(held)}`)
    if (stones.length === 0) return []
    return ['the first stones as they would be stored:', ...stones, 'what all of them have:', ...fields]
  }

  #formatField({ stones, from, to, values }: FieldSummary): string {
    const all = stones === this.#stones ? '' : ` (${formatCount(stones)} of ${formatCount(this.#stones)} stones)`
    if (from !== undefined) return `${from} to ${to}${all}`
    if (values === undefined) return stones === 1 ? 'a text' : `${formatCount(stones)} texts`
    return `${values.join(', ')}${values.length === MAX_LISTED_VALUES ? ' and maybe others' : ''}${all}`
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

/** What a file was found to hold, by one reading of all of it. */
export type Findings = {
  /** Lines that can be used. */
  readonly usableCount: number
  readonly badLines: readonly BadLine[]
  /** Cut shapes that no dictionary knows, with the number of their stones. */
  readonly customShapes: CountedTexts
  /** What was stored of texts that say more, or something between, with the number of their stones. */
  readonly notes: CountedTexts
  readonly contents: ContentSummary
  /** Of all good lines in their order. */
  readonly digest: string
  /** The good lines again, of another reading. */
  usableLines(lines: AsyncIterable<ImportLine>): AsyncGenerator<UsableLine>
  /** Whether a line has this sku, good or bad. */
  hasSku(sku: string): boolean
}

export type UsableLine = Extract<ImportLine, { change: DiamondFieldChanges }>

/** Reads a whole file before anything is written. @param stock where lines are about the stones that have their sku */
export async function collectFindings(lines: AsyncIterable<ImportLine>, stock: Stock | undefined): Promise<Findings> {
  const bad: { line: number; problems: readonly string[]; unread?: readonly InvalidCell[] }[] = []
  const shapes = new CountedTexts()
  const notes = new CountedTexts()
  const contents = new ContentSummary()
  const digest = createHash('sha256')
  const skus = new Skus()
  let good = 0
  for await (const line of lines) {
    const problems = problemsOf(line, stock)
    const { sku } = 'change' in line ? line.change.set : {}
    const first = stock && sku !== undefined ? skus.add(sku, line.line) : undefined
    if (first === undefined && problems.length === 0 && 'change' in line) {
      good++
      digest.update(`${JSON.stringify(line.change.set)}\n`)
      const { cutShape } = line.change.set
      if (typeof cutShape === 'string') shapes.add(cutShape)
      for (const note of line.notes ?? []) notes.add(note)
      contents.add(line.change)
      continue
    }
    const again = first === undefined ? [] : [`sku ${sku} stands in line ${first} already`]
    const unread = 'unread' in line ? line.unread : undefined
    bad.push({ line: line.line, problems: [...problems, ...again], ...(unread && { unread }) })
  }
  for (const { sku, line, others } of skus.duplicates()) {
    const known = bad.find((one) => one.line === line)
    const problem = `sku ${sku} stands again in line ${others}`
    if (known === undefined) {
      good--
      bad.push({ line, problems: [problem] })
    } else known.problems = [...known.problems, problem]
  }
  bad.sort((one, other) => one.line - other.line)
  const left = new Set(bad.map(({ line }) => line))
  return {
    usableCount: good,
    badLines: bad,
    customShapes: shapes,
    notes,
    contents,
    digest: digest.digest('hex'),
    hasSku: (sku) => skus.has(sku),
    async *usableLines(again) {
      for await (const line of again) if ('change' in line && !left.has(line.line)) yield line
    },
  }
}

/** What is wrong with a line, where it is to change the stone of its sku with that stone, too. */
function problemsOf(line: ImportLine, stock: Stock | undefined): readonly string[] {
  if ('problems' in line) return line.problems
  if (stock === undefined) return []
  const ids = stock.bySku(line.change.set.sku ?? '')
  if (ids.length > 1) {
    const [first, ...others] = ids.slice(0, MAX_LISTED_IDS)
    const more = ids.length > MAX_LISTED_IDS ? ' and others' : ''
    return [
      `sku ${line.change.set.sku} is of several diamonds, ${[first, ...others].join(', ')}${more}: which one is meant?`,
    ]
  }
  return ids.length === 1 ? [] : missingFieldsOf(line.change).map((name) => `${name} is required of a new diamond`)
}

/** Ids that a message has at most. */
const MAX_LISTED_IDS = 10

/** The skus of a file, by their first line, and the lines of those that stand twice. */
class Skus {
  readonly #first = new Map<string, number>()
  readonly #others = new Map<string, number[]>()

  /** @returns the line that had it before */
  add(sku: string, line: number): number | undefined {
    const first = this.#first.get(sku)
    if (first === undefined) this.#first.set(sku, line)
    else if (this.#others.get(sku)?.push(line) === undefined) this.#others.set(sku, [line])
    return first
  }

  has(sku: string): boolean {
    return this.#first.has(sku)
  }

  *duplicates(): Generator<{ readonly sku: string; readonly line: number; readonly others: string }> {
    for (const [sku, lines] of this.#others) {
      const others =
        lines.length > MAX_LISTED_IDS ? `${lines.slice(0, MAX_LISTED_IDS).join(', ')} and others` : lines.join(', ')
      yield { sku, line: this.#first.get(sku) ?? 0, others }
    }
  }
}

/** What a new diamond of a line has. */
export const toNewDiamond = ({ set }: DiamondFieldChanges): NewDiamond => set as NewDiamond
