import { FIELDS, type ProportionField } from '../domain/diamond/fields.ts'
import { plainText } from '../domain/look-alikes.ts'
import { boundsText, V4_FIELDS } from '../representations/diamond/field-schemas.ts'
import { isPlaceholder, type SheetCell } from './sheet-cell.ts'
import { splitHeadings } from './trade-columns.ts'

/** A column with length, width and height of the stone in each cell. */
export const MEASUREMENTS = 'measurements'

export const MEASUREMENTS_HEADINGS: readonly string[] = splitHeadings([
  'Measurements|Measurement|Meas|Dimensions|Dimension|MM|Diameter|Diam|Diameters',
  'Maße|Abmessungen|Durchmesser',
])

/** Values to store, null for none; `note` says what differs from the cell. */
type ProportionReading = {
  readonly values: Readonly<Partial<Record<ProportionField, number | null>>>
  readonly note?: string
}

/**
 * Reads a cell with one proportion, or with the measurements. Scores are only less accurate without it, so a cell without a usable
 * value is noted and does not make its line invalid. 0 means unknown.
 */
export function readProportions(name: ProportionField | typeof MEASUREMENTS, cell: SheetCell): ProportionReading {
  const none = name === MEASUREMENTS ? NO_SIZE : { [name]: null }
  if (typeof cell === 'object') return { values: none, note: `${name}: nothing is stored, since ${cell.problem}` }
  const text = String(cell)
  if (text === '' || isPlaceholder(text)) return { values: none }
  return name === MEASUREMENTS ? readMeasurements(text) : readProportion(name, text)
}

function readProportion(name: ProportionField, text: string): ProportionReading {
  const value = numberOf(text)
  if (value === 0) return { values: { [name]: null } }
  if (isAccepted(name, value)) return { values: { [name]: value } }
  const percent = Number((value * 100).toPrecision(6))
  if (PERCENTAGES.has(name) && isAccepted(name, percent))
    return {
      values: { [name]: percent },
      note: `${name}: fractions are stored in percent, such as ${value} as ${percent}`,
    }
  const note = `${name}: nothing is stored where it is not a number ${boundsText(FIELDS[name])}`
  return { values: { [name]: null }, note }
}

const isAccepted = (name: ProportionField, value: number): boolean => V4_FIELDS[name].safeParse(value).success

/** Cells of a workbook in the format of percentages are stored as fractions. */
const PERCENTAGES: ReadonlySet<ProportionField> = new Set([
  'proportions.table',
  'proportions.depth',
  'proportions.girdle',
  'proportions.crownHeight',
  'proportions.pavilionDepth',
  'proportions.star',
  'proportions.lower',
])

/** Either decimal separator, since no proportion has four digits before it; NaN if the text is not a number. */
function numberOf(text: string): number {
  const digits = plainText(text.replace(UNIT, ''))
  return DIGITS.test(digits) ? Number(digits.replace(',', '.')) : NaN
}

const UNIT = /\s*(?:%|pct|[°º˚]|deg|mm)\.?$/i
const DIGITS = /^\d*[.,]?\d+$/

/** Millimetres; null if unknown. */
type Size = Readonly<Record<'proportions.length' | 'proportions.width' | 'proportions.height', number | null>>

const NO_SIZE: Size = { 'proportions.length': null, 'proportions.width': null, 'proportions.height': null }

const NO_MEASUREMENTS =
  'measurements: nothing is stored where they are not two or three numbers of millimetres, such as 6.44 x 6.41 x 3.98'

/**
 * `6.44 x 6.41 x 3.98`, `6.41-6.44*3.98`, `6,44 / 6,41 / 3,98 mm`, or the first two numbers alone. A dash separates the diameters of
 * a round; the larger one is the length.
 */
function readMeasurements(text: string): ProportionReading {
  const [, first, separator = '', second, , third = '0'] =
    matchSize(plainText(text).replaceAll(/[()]/g, ' ').trim()) ?? []
  if (first === undefined || second === undefined) return { values: NO_SIZE, note: NO_MEASUREMENTS }
  const [a, b, height] = [numberOf(first), numberOf(second), numberOf(third)]
  const isRange = /[-–—]/.test(separator)
  const values = {
    'proportions.length': (isRange ? Math.max(a, b) : a) || null,
    'proportions.width': (isRange ? Math.min(a, b) : b) || null,
    'proportions.height': height || null,
  }
  const areAccepted = Object.entries(values).every(
    ([name, value]) => value === null || isAccepted(name as keyof Size, value),
  )
  return areAccepted ? { values } : { values: NO_SIZE, note: NO_MEASUREMENTS }
}

/** With decimal points, a comma separates numbers. */
const matchSize = (text: string): RegExpExecArray | null => SIZE_WITH_POINTS.exec(text) ?? SIZE_WITH_COMMAS.exec(text)

const SIZE_WITH_POINTS = sizePattern(String.raw`\.`, String.raw`[-–—x×*/;:,]`)
const SIZE_WITH_COMMAS = sizePattern(',', String.raw`[-–—x×*/;:]`)

function sizePattern(decimal: string, separators: string): RegExp {
  const number = String.raw`(\d+(?:${decimal}\d+)?)\s*(?:mm)?`
  const separator = String.raw`(?:\s*(${separators}|by)\s*|\s+)`
  return new RegExp(`^${number}${separator}${number}(?:${separator}${number})?$`, 'i')
}
