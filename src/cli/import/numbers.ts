import type { AmountRange } from '../../domain/diamond/field.ts'
import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { BadUsage } from '../../maintenance/operation.ts'

/** What stands before the fraction of a number: `0.71`, or as most of Europe writes it `0,71`. */
export type DecimalSeparator = '.' | ','

/** Fields whose cells are numbers. */
export type AmountField = {
  [Name in FieldName]: (typeof FIELDS)[Name]['kind'] extends 'amount' ? Name : never
}[FieldName]

export const isAmount = (name: FieldName): name is AmountField => FIELDS[name].kind === 'amount'

type PlausibleRange = { readonly from: number; readonly to: number }

/**
 * What a value can be, to tell which of two readings was meant, where that is less than its field takes. The largest faceted
 * diamond has 545.67 carats (the Golden Jubilee); no stone costs less than 10 of any currency.
 */
const PLAUSIBLE: Readonly<Partial<Record<AmountField, PlausibleRange>>> = {
  carat: { from: 0, to: 600 },
  price: { from: 10, to: 1e10 },
}

function plausibleRangeOf(name: AmountField): PlausibleRange {
  const { over, from = over ?? 0, to = Infinity }: AmountRange = FIELDS[name]
  return PLAUSIBLE[name] ?? { from, to }
}

/** GIA writes `0.51 carat`. */
const UNIT = /\s*(?:ct|cts|carat|carats)\.?$/i

/** `$`, `US$`, `€`, `USD`, `Rs.`, before or behind. */
const CURRENCY = /^(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}(?![A-Z])|Rs\.?)\s*|\s*(?:[A-Z]{0,3}\p{Sc}|(?<![A-Z])[A-Z]{3}|Rs\.?)$/gu

/** What a whole amount may have where its cents would stand: `1200.-`, `1.200,--`. */
const NO_CENTS = /[.,][-–—]{1,2}$/

/** The digits, signs and separators of a cell. */
function stripUnits(name: AmountField, cell: string): string {
  const bare = name === 'carat' ? cell.replace(UNIT, '') : cell.replaceAll(CURRENCY, '').replace(NO_CENTS, '')
  return bare.trim()
}

/** Groups of three digits, or as in India of two and a last one of three, with the same separator between them. */
const groupedDigitsPattern = (separators: string) => String.raw`[1-9]\d{0,2}([${separators}])(?:\d{2,3}\1)*\d{3}`
const EXPONENT = String.raw`(?:e[+-]?\d+)?`

const NUMBER: Readonly<Record<DecimalSeparator, RegExp>> = {
  '.': new RegExp(
    String.raw`^[+-]?(?:${groupedDigitsPattern(",'’\\s")}(?:\.\d*)?|\d+\.?\d*${EXPONENT}|\.\d+${EXPONENT})$`,
    'iu',
  ),
  ',': new RegExp(
    String.raw`^[+-]?(?:${groupedDigitsPattern(".'’\\s")}(?:,\d*)?|\d+,?\d*${EXPONENT}|,\d+${EXPONENT})$`,
    'iu',
  ),
}

/** The number that a cell is, with this before its fraction; undefined for what is none. */
export function amountOf(name: AmountField, cell: string, decimal: DecimalSeparator): number | undefined {
  const bare = stripUnits(name, cell)
  if (!NUMBER[decimal].test(bare)) return undefined
  const digits = bare.replaceAll(decimal === '.' ? /[,'’\s]/gu : /[.'’\s]/gu, '')
  return Number(decimal === '.' ? digits : digits.replace(',', '.'))
}

/** A cell and the line that it stands in. */
type CellOccurrence = { readonly cell: string; readonly line: number }

/** What the cells of one column of numbers say of how they are written. */
class NumberColumn {
  /** The first that is a number with the one before its fraction, and none with the other. */
  readonly #unambiguous: { [Before in DecimalSeparator]?: CellOccurrence } = {}
  /** The first that is a number either way, and not the same one. */
  #ambiguous: (CellOccurrence & { readonly decimals: Readonly<Record<DecimalSeparator, number>> }) | undefined
  /** Of those that are: the first that is no possible value, read each way. */
  readonly #implausible: { [Before in DecimalSeparator]?: CellOccurrence } = {}

  constructor(private readonly name: AmountField) {}

  add(cell: string, line: number): void {
    const decimals = { '.': amountOf(this.name, cell, '.'), ',': amountOf(this.name, cell, ',') }
    const { '.': point, ',': comma } = decimals
    if (point === comma) return
    if (point === undefined) this.#unambiguous[','] ??= { cell, line }
    else if (comma === undefined) this.#unambiguous['.'] ??= { cell, line }
    else {
      this.#ambiguous ??= { cell, line, decimals: { '.': point, ',': comma } }
      const { from, to } = plausibleRangeOf(this.name)
      for (const [decimal, value] of [['.', point] as const, [',', comma] as const])
        if (value !== 0 && (value < from || value > to)) this.#implausible[decimal] ??= { cell, line }
    }
  }

  /**
   * @param others what other columns of the file have before their fractions
   * @returns undefined where it does not matter
   * @throws BadUsage where two readings remain
   */
  decideSeparator(others: ReadonlySet<DecimalSeparator>): DecimalSeparator | undefined {
    const { '.': point, ',': comma } = this.#unambiguous
    if (point !== undefined) return this.#requireConsistent('.', point, comma ?? this.#implausible['.'])
    if (comma !== undefined) return this.#requireConsistent(',', comma, this.#implausible[','])
    if (this.#ambiguous === undefined) return undefined
    const possible = (['.', ','] as const).filter((decimal) => this.#implausible[decimal] === undefined)
    const [only] = possible
    if (only !== undefined && possible.length === 1) return only
    // What other columns have before their fractions is not what this one has: then both could be.
    const separators = new Set(this.#ambiguous.cell.match(/[.,]/g))
    const [other] = others
    if (other !== undefined && others.size === 1 && !separators.has(other)) return other
    const { decimals } = this.#ambiguous
    throw new BadUsage(
      `The column of ${this.name} can be read in two ways: ${formatOccurrence(this.#ambiguous)} is ${decimals['.']} or ${decimals[',']}; ${CHOOSE}`,
    )
  }

  #requireConsistent(
    decimal: DecimalSeparator,
    seen: CellOccurrence,
    otherwise: CellOccurrence | undefined,
  ): DecimalSeparator {
    if (otherwise === undefined) return decimal
    throw new BadUsage(
      `The column of ${this.name} is written in two ways, as ${formatOccurrence(seen)} and as ${formatOccurrence(otherwise)}; ${CHOOSE}`,
    )
  }

  /** What is before the fraction where its own cells leave no doubt. */
  get certainSeparator(): DecimalSeparator | undefined {
    const { '.': point, ',': comma } = this.#unambiguous
    if (point !== undefined && comma !== undefined) return undefined
    return point !== undefined ? '.' : comma && ','
  }
}

const formatOccurrence = ({ cell, line }: CellOccurrence) => `${cell} in line ${line}`
const CHOOSE = 'say by --decimal . or --decimal , what stands before a fraction'

/** How each column of numbers is written. */
export type DecimalSeparators = Readonly<Partial<Record<AmountField, DecimalSeparator>>>

/** Finds out how a file writes its numbers, column by column, from all of their cells. */
export class NumberFormatDetector {
  readonly #columns = new Map<AmountField, NumberColumn>()

  add(name: AmountField, cell: string, line: number): void {
    const column = this.#columns.get(name) ?? new NumberColumn(name)
    this.#columns.set(name, column)
    column.add(cell, line)
  }

  /** @throws BadUsage for a column that can be read in two ways */
  detect(): DecimalSeparators {
    const certain = new Set(
      [...this.#columns.values()].map((column) => column.certainSeparator).filter((one) => one !== undefined),
    )
    const decimals = [...this.#columns].map(([name, column]) => [name, column.decideSeparator(certain)] as const)
    return Object.fromEntries(decimals.filter(([, decimal]) => decimal !== undefined)) as DecimalSeparators
  }
}
