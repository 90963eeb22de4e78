import { FIELDS, isProportion, memberNameOf, type FieldName } from '../domain/diamond/fields.ts'
import { color, fancyGrade, parseFancyColor } from '../domain/dictionaries/colors.ts'
import { fluorColor, fluorIntensity } from '../domain/dictionaries/fluorescence.ts'
import type { StatedReport } from '../domain/certification/stated-report.ts'
import { parseShape } from '../domain/dictionaries/shapes.ts'
import { describeLookAlikes, plainText } from '../domain/look-alikes.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { V4_FIELDS } from '../representations/diamond/field-schemas.ts'
import type { Columns, ValueMap } from './columns.ts'
import { toEnglish } from './german-values.ts'
import { isLineProperty, readLineProperty, type LineStatement } from './line-properties.ts'
import { amountOf, isAmount, type DecimalSeparators } from './numbers.ts'
import { MEASUREMENTS, readProportions } from './proportion-cells.ts'
import { readReportCells, type ReportCells } from './report-cells.ts'
import { displayedText, isPlaceholder, isShortenedNumber, type SheetCell, type UnusableCell } from './sheet-cell.ts'

/** How to parse the cells of a file. */
type CellRules = {
  readonly columns: Columns
  readonly decimals: DecimalSeparators
  readonly values?: ValueMap
  /** Whether `adamant export` wrote the file: its values are meant as written. */
  readonly isExport?: boolean
}

/** A line as a v4 request body. */
type ParsedCells = {
  readonly input: Readonly<Record<string, unknown>>
  /** Notes on cells of which only a part is stored. */
  readonly notes: readonly string[]
  /** Cells without a usable value, by column index; the input has no member for them. */
  readonly unusableCells: ReadonlyMap<number, UnusableCell>
  /** What the cells of a property say of the line, by column index. */
  readonly statements: ReadonlyMap<number, LineStatement>
  /** The report that the line states; null for none, undefined if the file has no column for it or it is unclear. */
  readonly report?: StatedReport | null
  /** The sku with plain characters in place of look-alikes, if it has any. */
  readonly plainSku?: string
}

/**
 * Parses a line of cells. An empty cell becomes null; a cell that cannot be parsed stays text, which validation then rejects.
 * Two columns for the ends of a range are joined, such as `Thin-Medium`.
 */
export function parseCells(
  { columns, decimals, values, isExport = false }: CellRules,
  cells: readonly SheetCell[],
): ParsedCells {
  const input: Record<string, unknown> = {}
  const unusableCells = new Map<number, UnusableCell>()
  const statements = new Map<number, LineStatement>()
  const notes: string[] = []
  let reportCells: ReportCells = {}
  for (const [index, name] of columns.entries()) {
    if (name === undefined) continue
    const fileCell = cells[index] ?? ''
    const mappedCell = values?.get(index)?.get(comparisonKey(displayedText(fileCell)))
    const cell = mappedCell ?? (name === 'sku' && !isExport ? checkSku(fileCell) : fileCell)
    if (name === MEASUREMENTS || isProportion(name)) {
      const { values: proportions, note } = readProportions(name, cell)
      for (const [field, value] of Object.entries(proportions)) input[field] ??= value
      if (note !== undefined) notes.push(note)
      continue
    }
    if (typeof cell === 'object') {
      unusableCells.set(index, cell)
      continue
    }
    if (isLineProperty(name)) {
      const text = String(cell)
      const statement = text === '' ? undefined : readLineProperty(name, text)
      if (statement === undefined) continue
      if ('problem' in statement) unusableCells.set(index, { text, problem: statement.problem })
      else {
        statements.set(index, statement)
        reportCells = { ...statement.reportCells, ...reportCells }
      }
      continue
    }
    let value = cell === '' ? null : readCell(name, cell, decimals)
    if (typeof value === 'string' && !isExport) value = readUnknownText(name, value, decimals, notes)
    const previousValue = input[name] ?? null
    if (previousValue === null || value === null) input[name] = value ?? previousValue
    else input[name] = `${String(previousValue)}-${cell}`
  }
  if (!columns.includes('fluorColor')) splitFluorescence(input)
  notes.push(...splitColorDescriptions(input))
  if (!isExport) notes.push(...clearFancyColor(columns, input), ...clearZeroPrice(input))
  if (!columns.includes('isColored') && isFancy(input)) input['isColored'] = true
  notes.push(...noteLowerGrades(input))
  const { report, note } = columns.includes('certification.number') ? readReportCells(reportCells) : {}
  if (note !== undefined) notes.push(note)
  const parsed = { input: toBody(input), notes, unusableCells, statements, ...(report !== undefined && { report }) }
  const { sku } = input
  if (typeof sku !== 'string' || isExport) return parsed
  const plainSku = plainText(sku)
  if (plainSku === sku) return parsed
  notes.push(`sku ${sku} with ${describeLookAlikes(sku)} is stored as written, not as ${plainSku}`)
  return { ...parsed, plainSku }
}

/** A line as a v4 body: the fields of an object are its members. */
function toBody(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  const proportions: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input))
    if (isProportion(name)) proportions[memberNameOf(name)] = value
    else members[name] = value
  return Object.keys(proportions).length === 0 ? input : { ...members, proportions }
}

/** The largest number of which a spreadsheet program keeps all digits has fifteen. */
const TOO_LONG_NUMBER = 1e15

/** A sku that a spreadsheet program has changed has no usable value. */
function checkSku(cell: SheetCell): SheetCell {
  const text = displayedText(cell)
  const isTooLong = typeof cell === 'number' && cell >= TOO_LONG_NUMBER
  if (typeof cell === 'object' || !(isTooLong || isShortenedNumber(text))) return cell
  const problem = `${text} is a number that a spreadsheet program shortened; format the column as text and enter the stock numbers again`
  return { text, problem }
}

/** Reads a text that is no value as written: with plain characters in place of those that look the same, and as a German word. */
function readUnknownText(name: FieldName, text: string, decimals: DecimalSeparators, notes: string[]): unknown {
  const plain = plainText(text)
  const english = toEnglish(name, plain)
  if (english === text || FIELDS[name].kind === 'text' || isKnownText(name, text)) return text
  const value = readCell(name, english, decimals)
  if (typeof value === 'string' && !isKnownText(name, value)) return text
  if (plain !== text) notes.push(`${name} ${text} with ${describeLookAlikes(text)} is stored as ${english}`)
  return value
}

/** Any text is accepted as a shape. */
const isKnownText = (name: FieldName, text: string): boolean =>
  name === 'cutShape' ? parseShape(text) !== undefined : isAcceptedValue(name, text)

/** Converts digits to a number only for amounts, levels and dictionary ids; text fields keep them as text. */
function readCell(name: FieldName, cell: string | number, decimals: DecimalSeparators): unknown {
  if (typeof cell === 'number' && isAmount(name)) return cell
  const text = String(cell)
  const field = FIELDS[name]
  switch (field.kind) {
    case 'text':
      return text
    case 'shape':
      return parseShape(text) === undefined && isPlaceholder(text) ? null : toIdOrText(text)
    default: {
      const value = isAmount(name) ? amountOf(name, text, decimals[name] ?? '.') : parseNonNumericCell(name, text)
      if (value !== undefined && (value !== text || isAcceptedValue(name, text))) return value
      return isPlaceholder(text) ? null : text
    }
  }
}

const toIdOrText = (cell: string): string | number => (/^\d+$/.test(cell) ? Number(cell) : cell)

function parseNonNumericCell(name: FieldName, cell: string): unknown {
  switch (FIELDS[name].kind) {
    case 'flag':
      return booleanOf(name, cell)
    case 'level':
      return levelOf(name, cell)
    case 'entry':
      return toIdOrText(cell)
    default:
      return cell
  }
}

/** Undefined if the cell is not a boolean. */
function booleanOf(name: FieldName, cell: string): boolean | undefined {
  const key = comparisonKey(cell)
  const value = BOOLEANS.get(key)
  if (value !== undefined || name !== 'isLabGrown') return value
  if (NATURAL.test(key)) return false
  return LAB_GROWN_PATTERN.test(key) ? true : undefined
}

/** Booleans as people and localised spreadsheet programs write them, in lower case. */
const TRUE = [
  'true yes y 1 wahr ja vrai oui verdadero verdadeiro sí si sim vero sì waar prawda tak sant sand',
  'истина да doğru evet 真 是 אמת כן',
].flatMap((words) => words.split(' '))

const FALSE = [
  'false no n 0 falsch nein faux non falso não onwaar nee fałsz nie falskt falsk ложь нет yanlış hayır',
  '假 否 שקר לא',
].flatMap((words) => words.split(' '))

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...TRUE.map((word) => [word, true] as const),
  ...FALSE.map((word) => [word, false] as const),
])

const NATURAL = /^(?=.*[a-z])(?:natural|nat|(?:earth[- ]?)?mined)?(?: ?diamonds?)?$/

/** Matches texts of a column for the origin or type, such as `Lab Grown Diamond (CVD)`, `LGD` and `HPHT`. */
const LAB_GROWN_PATTERN =
  /^(?=.*[a-z])(?:(?:lab(?:oratory)?(?:[- ]?(?:grown|created|made))?|man[- ]?made|synthetic|cultured|grown|created|lgd?)(?: diamonds?)?)?[ (/-]*(?:cvd|hpht)?\)?$/

/** The level, from its number or title; undefined if the cell is neither. */
const levelOf = (name: FieldName, cell: string): number | undefined =>
  /^\d+$/.test(cell) ? Number(cell) : LEVELS[name]?.[comparisonKey(cell)]

/** Levels by title. Source: the original platform's table of accepted values. */
const LEVELS: Readonly<Partial<Record<FieldName, Readonly<Record<string, number>>>>> = {
  access: { restricted: 0, unlisted: 1, public: 2 },
  dataAccess: { 'hide all design data': 0, 'hide model and reports': 1, 'show all data': 2 },
}

/** Splits `Medium Blue`, as GIA writes it, into intensity and color. */
function splitFluorescence(input: Record<string, unknown>): void {
  const { fluorIntensity: text } = input
  if (typeof text !== 'string' || fluorIntensity.find(text) !== undefined) return
  const [, intensity = '', hue = ''] = /^(.*\S)\s+(\S+)$/.exec(text) ?? []
  if (fluorIntensity.find(intensity) === undefined || fluorColor.find(hue) === undefined) return
  Object.assign(input, { fluorIntensity: intensity, fluorColor: hue })
}

/** Splits `Fancy Light Yellow` into its fields; of `M, Faint Brown` only the letter grade is stored. @returns notes */
function splitColorDescriptions(input: Record<string, unknown>): string[] {
  const notes: string[] = []
  for (const name of COLOR_DESCRIPTION_FIELDS) {
    const text = input[name]
    if (typeof text !== 'string' || isAcceptedValue(name, text)) continue
    const fancy = parseFancyColor(text)
    const [, letter = '', colorText = ''] = name === 'color' ? (/^([d-z])\s*[,;(]?\s+(.+)$/i.exec(text) ?? []) : []
    if (fancy !== undefined) {
      input[name] = null
      for (const [field, value] of Object.entries(fancy)) input[field] ??= value
    } else if (color.find(letter) !== undefined && parseFancyColor(colorText) !== undefined) {
      input[name] = letter
      notes.push(`${name} ${text} is stored as ${letter.toUpperCase()}`)
    }
  }
  return notes
}

/**
 * Clears a colour that only says that the stone is fancy-coloured, such as `Fancy` or `Fancy Intense` beside the hue, or `X`
 * beside a grade of fancy colours, since such a stone has no letter grade. @returns notes
 */
function clearFancyColor(columns: Columns, input: Record<string, unknown>): string[] {
  const text = input['color']
  if (typeof text !== 'string') return []
  const key = comparisonKey(text)
  const grade = text.length > 1 && !isAcceptedValue('color', text) ? fancyGrade.find(text) : undefined
  const isMark = FANCY_MARKS.has(key) || (key === 'x' && (input['fancyGrade'] ?? null) !== null)
  if (grade === undefined && !isMark) return []
  input['color'] = null
  if (!columns.includes('isColored')) input['isColored'] = true
  if (grade === undefined || isMark || columns.includes('fancyGrade'))
    return [`color ${text} is stored as fancy-coloured, without a letter grade`]
  input['fancyGrade'] = fancyGrade.title(grade)
  return []
}

const FANCY_MARKS: ReadonlySet<string> = new Set(['fancy', 'fancy color', 'fancy colour', 'fcy', 'fc', 'fan'])

/** In a trade file, 0 means that the price is not disclosed. @returns notes */
function clearZeroPrice(input: Record<string, unknown>): string[] {
  if (input['price'] !== 0) return []
  input['price'] = null
  return ['price 0 is stored as no price']
}

/** Columns that may contain a complete description of a color. */
const COLOR_DESCRIPTION_FIELDS = ['color', 'colorHue', 'fancyGrade'] as const

const isFancy = ({ fancyGrade, colorHue }: Record<string, unknown>): boolean =>
  (fancyGrade ?? null) !== null || (colorHue ?? null) !== null

/** Notes on texts that name two grades. */
function noteLowerGrades(input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const field = FIELDS[name as FieldName]
    if (field.kind !== 'entry' || typeof value !== 'string') return []
    const [, lower] = field.dictionary.findRange(value) ?? []
    if (lower === undefined) return []
    return [`${name} ${value} is stored as ${lower.title}, the lower grade`]
  })
}

/** Whether the v4 API accepts a value of a field. */
export const isAcceptedValue = (name: FieldName, value: unknown): boolean => V4_FIELDS[name].safeParse(value).success
