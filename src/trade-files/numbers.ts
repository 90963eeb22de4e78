import type { AmountRange } from '../domain/diamond/field.ts'
import { FIELDS, isProportion, type FieldName, type ProportionField } from '../domain/diamond/fields.ts'

/** Decimal separator: `0.71`, or `0,71` as in most of Europe. */
export type DecimalSeparator = '.' | ','

/** Fields whose cells are numbers with thousands. */
export type AmountField = Exclude<
  { [Name in FieldName]: (typeof FIELDS)[Name]['kind'] extends 'amount' ? Name : never }[FieldName],
  ProportionField
>

export const isAmount = (name: string): name is AmountField =>
  Object.hasOwn(FIELDS, name) && FIELDS[name as FieldName].kind === 'amount' && !isProportion(name)

type PlausibleRange = { readonly from: number; readonly to: number }

/**
 * Plausible values, narrower than the field's range, to resolve ambiguous numbers. The largest faceted diamond has 545.67 carats
 * (the Golden Jubilee); no stone costs less than 10 of any currency.
 */
const PLAUSIBLE: Readonly<Partial<Record<AmountField, PlausibleRange>>> = {
  carat: { from: 0, to: 600 },
  price: { from: 10, to: 1e10 },
}

function plausibleRangeOf(name: AmountField): PlausibleRange {
  const { over, from = over ?? 0, to = Infinity }: AmountRange = FIELDS[name]
  return PLAUSIBLE[name] ?? { from, to }
}

/** GIA writes `0.51 carat`, for example. */
const UNIT = /\s*(?:ct|cts|carat|carats)\.?$/i

/** `$`, `US$`, `€`, `USD`, `Rs.`, before or after the number. */
const CURRENCY = /^(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}(?![A-Z])|Rs\.?)\s*|\s*(?:[A-Z]{0,3}\p{Sc}|(?<![A-Z])[A-Z]{3}|Rs\.?)$/gu

/** Dashes in place of cents: `1200.-`, `1.200,--`. */
const NO_CENTS = /[.,][-–—]{1,2}$/

/** Removes units and currencies from a cell. */
function stripUnits(name: AmountField, cell: string): string {
  const bare = name === 'carat' ? cell.replace(UNIT, '') : cell.replaceAll(CURRENCY, '').replace(NO_CENTS, '')
  return bare.trim()
}

/** Groups of three digits, or as in India of two with a last group of three, with one separator throughout. */
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

/** Parses a cell with this decimal separator; undefined if it is not a number. */
export function amountOf(name: AmountField, cell: string, decimal: DecimalSeparator): number | undefined {
  const bare = stripUnits(name, cell)
  if (!NUMBER[decimal].test(bare)) return undefined
  const digits = bare.replaceAll(decimal === '.' ? /[,'’\s]/gu : /[.'’\s]/gu, '')
  return Number(decimal === '.' ? digits : digits.replace(',', '.'))
}

type CellOccurrence = { readonly cell: string; readonly line: number }

/** Detects the decimal separator of one column. */
class NumberColumn {
  /** By separator: the first cell that is a number only with this one. */
  readonly #unambiguous: { [Separator in DecimalSeparator]?: CellOccurrence } = {}
  /** The first cell that is a different number with each separator. */
  #ambiguous: (CellOccurrence & { readonly decimals: Readonly<Record<DecimalSeparator, number>> }) | undefined
  /** By separator: the first ambiguous cell that is not plausible with this one. */
  readonly #implausible: { [Separator in DecimalSeparator]?: CellOccurrence } = {}

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
   * @param otherSeparators separators of the file's unambiguous columns
   * @returns undefined if both separators give the same numbers; a question if the column is ambiguous or inconsistent
   */
  decideSeparator(otherSeparators: ReadonlySet<DecimalSeparator>): DecimalSeparator | AmbiguousNumbers | undefined {
    const { '.': point, ',': comma } = this.#unambiguous
    if (point !== undefined) return this.#requireConsistent('.', point, comma ?? this.#implausible['.'])
    if (comma !== undefined) return this.#requireConsistent(',', comma, this.#implausible[','])
    if (this.#ambiguous === undefined) return undefined
    const plausibleSeparators = (['.', ','] as const).filter((decimal) => this.#implausible[decimal] === undefined)
    const [only] = plausibleSeparators
    if (only !== undefined && plausibleSeparators.length === 1) return only
    // If the cell contains the separator of the other columns, both interpretations remain possible.
    const separators = new Set(this.#ambiguous.cell.match(/[.,]/g))
    const [otherSeparator] = otherSeparators
    if (otherSeparator !== undefined && otherSeparators.size === 1 && !separators.has(otherSeparator))
      return otherSeparator
    const { decimals } = this.#ambiguous
    const ask = `The numbers in the column of ${this.name} are ambiguous: ${formatOccurrence(this.#ambiguous)} is ${decimals['.']} or ${decimals[',']}`
    return { name: this.name, ask }
  }

  #requireConsistent(
    decimal: DecimalSeparator,
    occurrence: CellOccurrence,
    contradiction: CellOccurrence | undefined,
  ): DecimalSeparator | AmbiguousNumbers {
    if (contradiction === undefined) return decimal
    const ask = `The column of ${this.name} has two decimal separators: ${formatOccurrence(occurrence)}, ${formatOccurrence(contradiction)}`
    return { name: this.name, ask }
  }

  /** The separator if the column's own cells prove it. */
  get certainSeparator(): DecimalSeparator | undefined {
    const { '.': point, ',': comma } = this.#unambiguous
    if (point !== undefined && comma !== undefined) return undefined
    return point !== undefined ? '.' : comma && ','
  }
}

const formatOccurrence = ({ cell, line }: CellOccurrence) => `${cell} in line ${line}`

/** A column whose decimal separator the user must choose. */
type AmbiguousNumbers = { readonly name: AmountField; readonly ask: string }

/** Decimal separators by column. */
export type DecimalSeparators = Readonly<Partial<Record<AmountField, DecimalSeparator>>>

/** Detects the decimal separators of a file, per column, from all cells. */
export class NumberFormatDetector {
  readonly #columns = new Map<AmountField, NumberColumn>()

  add(name: AmountField, cell: string, line: number): void {
    const column = this.#columns.get(name) ?? new NumberColumn(name)
    this.#columns.set(name, column)
    column.add(cell, line)
  }

  /** The separators, and the columns that are ambiguous or inconsistent. */
  detect(): { readonly decimals: DecimalSeparators; readonly ambiguous: readonly AmbiguousNumbers[] } {
    const certainSeparators = new Set(
      [...this.#columns.values()].map((column) => column.certainSeparator).filter((one) => one !== undefined),
    )
    const decimals: { [Name in AmountField]?: DecimalSeparator } = {}
    const ambiguous: AmbiguousNumbers[] = []
    for (const [name, column] of this.#columns) {
      const decision = column.decideSeparator(certainSeparators)
      if (typeof decision === 'object') ambiguous.push(decision)
      else if (decision !== undefined) decimals[name] = decision
    }
    return { decimals, ambiguous }
  }
}
