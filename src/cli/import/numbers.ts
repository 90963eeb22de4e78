import type { Bounds } from '../../domain/diamond/field.ts'
import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { BadUsage } from '../../maintenance/operation.ts'

/** What stands before the fraction of a number: `0.71`, or as most of Europe writes it `0,71`. */
export type Decimal = '.' | ','

/** Fields whose cells are numbers. */
export type Amount = { [Name in FieldName]: (typeof FIELDS)[Name]['kind'] extends 'amount' ? Name : never }[FieldName]

export const isAmount = (name: FieldName): name is Amount => FIELDS[name].kind === 'amount'

type Plausible = { readonly from: number; readonly to: number }

/**
 * What a value can be, to tell which of two readings was meant, where that is less than its field takes. The largest faceted
 * diamond has 545.67 carats (the Golden Jubilee); no stone costs less than 10 of any currency.
 */
const PLAUSIBLE: Readonly<Partial<Record<Amount, Plausible>>> = {
  carat: { from: 0, to: 600 },
  price: { from: 10, to: 1e10 },
}

function plausible(name: Amount): Plausible {
  const { over, from = over ?? 0, to = Infinity }: Bounds = FIELDS[name]
  return PLAUSIBLE[name] ?? { from, to }
}

/** GIA writes `0.51 carat`. */
const UNIT = /\s*(?:ct|cts|carat|carats)\.?$/i

/** `$`, `US$`, `€`, `USD`, `Rs.`, before or behind. */
const CURRENCY = /^(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}(?![A-Z])|Rs\.?)\s*|\s*(?:[A-Z]{0,3}\p{Sc}|(?<![A-Z])[A-Z]{3}|Rs\.?)$/gu

/** What a whole amount may have where its cents would stand: `1200.-`, `1.200,--`. */
const NO_CENTS = /[.,][-–—]{1,2}$/

/** The digits, signs and separators of a cell. */
function bareOf(name: Amount, cell: string): string {
  const bare = name === 'carat' ? cell.replace(UNIT, '') : cell.replaceAll(CURRENCY, '').replace(NO_CENTS, '')
  return bare.trim()
}

/** Groups of three digits, or as in India of two and a last one of three, with the same separator between them. */
const grouped = (separators: string) => String.raw`[1-9]\d{0,2}([${separators}])(?:\d{2,3}\1)*\d{3}`
const EXPONENT = String.raw`(?:e[+-]?\d+)?`

const NUMBER: Readonly<Record<Decimal, RegExp>> = {
  '.': new RegExp(String.raw`^[+-]?(?:${grouped(",'’\\s")}(?:\.\d*)?|\d+\.?\d*${EXPONENT}|\.\d+${EXPONENT})$`, 'iu'),
  ',': new RegExp(String.raw`^[+-]?(?:${grouped(".'’\\s")}(?:,\d*)?|\d+,?\d*${EXPONENT}|,\d+${EXPONENT})$`, 'iu'),
}

/** The number that a cell is, with this before its fraction; undefined for what is none. */
export function amountOf(name: Amount, cell: string, decimal: Decimal): number | undefined {
  const bare = bareOf(name, cell)
  if (!NUMBER[decimal].test(bare)) return undefined
  const digits = bare.replaceAll(decimal === '.' ? /[,'’\s]/gu : /[.'’\s]/gu, '')
  return Number(decimal === '.' ? digits : digits.replace(',', '.'))
}

/** A cell and the line that it stands in. */
type Seen = { readonly cell: string; readonly line: number }

/** What the cells of one column of numbers say of how they are written. */
class Column {
  /** The first that is a number with the one before its fraction, and none with the other. */
  readonly #only: { [Before in Decimal]?: Seen } = {}
  /** The first that is a number either way, and not the same one. */
  #either: (Seen & { readonly decimals: Readonly<Record<Decimal, number>> }) | undefined
  /** Of those that are: the first that is no possible value, read each way. */
  readonly #odd: { [Before in Decimal]?: Seen } = {}

  constructor(private readonly name: Amount) {}

  saw(cell: string, line: number): void {
    const decimals = { '.': amountOf(this.name, cell, '.'), ',': amountOf(this.name, cell, ',') }
    const { '.': point, ',': comma } = decimals
    if (point === comma) return
    if (point === undefined) this.#only[','] ??= { cell, line }
    else if (comma === undefined) this.#only['.'] ??= { cell, line }
    else {
      this.#either ??= { cell, line, decimals: { '.': point, ',': comma } }
      const { from, to } = plausible(this.name)
      for (const [decimal, value] of [['.', point] as const, [',', comma] as const])
        if (value !== 0 && (value < from || value > to)) this.#odd[decimal] ??= { cell, line }
    }
  }

  /**
   * @param others what other columns of the file have before their fractions
   * @returns undefined where it does not matter
   * @throws BadUsage where two readings remain
   */
  decided(others: ReadonlySet<Decimal>): Decimal | undefined {
    const { '.': point, ',': comma } = this.#only
    if (point !== undefined) return this.#checked('.', point, comma ?? this.#odd['.'])
    if (comma !== undefined) return this.#checked(',', comma, this.#odd[','])
    if (this.#either === undefined) return undefined
    const possible = (['.', ','] as const).filter((decimal) => this.#odd[decimal] === undefined)
    const [only] = possible
    if (only !== undefined && possible.length === 1) return only
    // What other columns have before their fractions is not what this one has: then both could be.
    const separators = new Set(this.#either.cell.match(/[.,]/g))
    const [other] = others
    if (other !== undefined && others.size === 1 && !separators.has(other)) return other
    const { decimals } = this.#either
    throw new BadUsage(
      `The column of ${this.name} can be read in two ways: ${told(this.#either)} is ${decimals['.']} or ${decimals[',']}; ${CHOOSE}`,
    )
  }

  #checked(decimal: Decimal, seen: Seen, otherwise: Seen | undefined): Decimal {
    if (otherwise === undefined) return decimal
    throw new BadUsage(
      `The column of ${this.name} is written in two ways, as ${told(seen)} and as ${told(otherwise)}; ${CHOOSE}`,
    )
  }

  /** What is before the fraction where its own cells leave no doubt. */
  get certain(): Decimal | undefined {
    const { '.': point, ',': comma } = this.#only
    if (point !== undefined && comma !== undefined) return undefined
    return point !== undefined ? '.' : comma && ','
  }
}

const told = ({ cell, line }: Seen) => `${cell} in line ${line}`
const CHOOSE = 'say by --decimal . or --decimal , what stands before a fraction'

/** How each column of numbers is written. */
export type Decimals = Readonly<Partial<Record<Amount, Decimal>>>

/** Finds out how a file writes its numbers, column by column, from all of their cells. */
export class NumberForms {
  readonly #columns = new Map<Amount, Column>()

  saw(name: Amount, cell: string, line: number): void {
    const column = this.#columns.get(name) ?? new Column(name)
    this.#columns.set(name, column)
    column.saw(cell, line)
  }

  /** @throws BadUsage for a column that can be read in two ways */
  decided(): Decimals {
    const certain = new Set(
      [...this.#columns.values()].map((column) => column.certain).filter((one) => one !== undefined),
    )
    const decimals = [...this.#columns].map(([name, column]) => [name, column.decided(certain)] as const)
    return Object.fromEntries(decimals.filter(([, decimal]) => decimal !== undefined)) as Decimals
  }
}
