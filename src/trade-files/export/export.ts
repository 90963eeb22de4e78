import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { EXPORT_FORMATS, type ExportFormat, type ExportFormatName } from './formats.ts'

/** Stock numbers that a remark names. */
const MAX_NAMED = 10

type ExportRemark = {
  /** Completes `12 stones are ...`. */
  readonly text: string
  readonly stones: number
  /** Stock numbers of the first of them. */
  readonly skus: readonly string[]
}

/** `12 stones are without a price (A-1, A-2 and 10 more)` */
export function describeRemark({ text, stones, skus }: ExportRemark): string {
  const others = stones > skus.length ? ` and ${(stones - skus.length).toLocaleString('en')} more` : ''
  return `${stones.toLocaleString('en')} ${stones === 1 ? 'stone is' : 'stones are'} ${text} (${skus.join(', ')}${others})`
}

/** What a file contains, and what those who read it miss in it. */
export type ExportSummary = {
  /** Number of stones in the file. */
  readonly stones: number
  readonly remarks: readonly ExportRemark[]
  /** What the format lacks for all stones; null if nothing. */
  readonly lacks: string | null
}

/** An export of stones in a format, and its summary once all were written. */
export class StoneExport {
  readonly #format: ExportFormat
  #stones = 0
  readonly #skusByRemark: ReadonlyMap<string, { count: number; readonly skus: string[] }>

  constructor(
    name: ExportFormatName,
    private readonly links: LinkBuilder,
  ) {
    this.#format = EXPORT_FORMATS[name]
    this.#skusByRemark = new Map(this.#format.remarks.map(({ text }) => [text, { count: 0, skus: [] }]))
  }

  /** The text of the file, in chunks. @throws the errors of `pages` */
  async *write(pages: AsyncIterable<readonly LiveDiamond[]>): AsyncGenerator<string> {
    if (this.#format.header !== '') yield this.#format.header
    for await (const stones of pages) {
      const included = stones.filter((stone) => this.#add(stone))
      if (included.length > 0) yield included.map((stone) => this.#format.row(stone, this.links)).join('')
    }
  }

  /** Only counts the stones. @throws the errors of `pages` */
  async check(pages: AsyncIterable<readonly LiveDiamond[]>): Promise<void> {
    for await (const stones of pages) for (const stone of stones) this.#add(stone)
  }

  get summary(): ExportSummary {
    const remarks = [...this.#skusByRemark].flatMap(([text, { count, skus }]) =>
      count === 0 ? [] : [{ text, stones: count, skus }],
    )
    return { stones: this.#stones, remarks, lacks: this.#format.lacks ?? null }
  }

  /** @returns whether the file contains the stone */
  #add(stone: LiveDiamond): boolean {
    for (const { text, appliesTo, isLeftOut } of this.#format.remarks) {
      if (!appliesTo(stone)) continue
      const found = this.#skusByRemark.get(text)
      if (found !== undefined && ++found.count <= MAX_NAMED) found.skus.push(stone.fields.sku)
      if (isLeftOut === true) return false
    }
    this.#stones++
    return true
  }
}
