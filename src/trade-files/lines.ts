import { bodyMembersOf, REQUIRED_FIELDS, type DiamondFieldChanges } from '../domain/diamond/fields.ts'
import type { StatedReport } from '../domain/certification/stated-report.ts'
import { parseShape } from '../domain/dictionaries/shapes.ts'
import { parseFieldChanges, parseNewDiamond } from '../representations/diamond/parse-diamond.ts'
import { isJsonObject, describeJsonType } from '../representations/json.ts'
import { UnreadableFile } from './errors.ts'
import { mainReport } from './export/exported-report.ts'
import { readReportCells } from './report-cells.ts'
import { textOf, type TextFileFormat } from './text-file-format.ts'

/** A text that is not a valid value of its column's field. */
export type InvalidCell = { readonly column: string; readonly text: string }

/** What is wrong with a line, and the heading of the column that it is about. */
export type Problem = { readonly message: string; readonly column?: string }

/** An invalid line with all its problems. */
export type BadLine = {
  readonly line: number
  readonly problems: readonly Problem[]
  readonly invalidCells?: readonly InvalidCell[]
}

/**
 * A line that is left out: neither a stone nor a reason to delete one. It is hidden, or has a word that says that it is not for
 * sale.
 */
type OmittedLine = { readonly line: number; readonly omittedSku: unknown; readonly availability?: string }

/** A line of a file as a v4 request body. */
type InputEntry = {
  readonly line: number
  readonly input: Readonly<Record<string, unknown>>
  /** Notes on cells of which only a part is stored. */
  readonly notes?: readonly string[]
  /** Problems of fields that the input therefore lacks. */
  readonly cellProblems?: readonly CellProblem[]
  /** The invalid texts in the columns of a field. */
  readonly findInvalidCells?: (field: string) => readonly InvalidCell[]
  /** The heading of a field's column. */
  readonly headingOf?: (field: string) => string | undefined
  readonly report?: StatedReport | null
  /** The sku with plain characters in place of look-alikes, if it has any. */
  readonly plainSku?: string
}

/** A problem of cells, and their fields. */
export type CellProblem = Problem & { readonly fields: readonly string[] }

/** A line of a file as a v4 request body, as invalid if it cannot be parsed, or as left out. */
export type ImportEntry = InputEntry | BadLine | OmittedLine

/** A line validated by the same rules as an API request. A new stone only uses `set`. */
export type ImportLine =
  | {
      readonly line: number
      readonly change: DiamondFieldChanges
      /** The stone's report; null if it has none, undefined if the line does not say. */
      readonly report?: StatedReport | null
      readonly notes?: readonly string[]
      readonly plainSku?: string
    }
  | BadLine
  | OmittedLine

/** Whether lines create stones, or update the stone with the same sku. */
type ImportMode = 'new stones' | 'stones by sku'

/**
 * Validates entries one by one, without buffering.
 * @param customShapes custom cut shapes that stones of the account already have: accepted even if they resemble a known shape,
 *   which is rejected for new ones
 */
export async function* readLines(
  entries: AsyncIterable<ImportEntry>,
  mode: ImportMode,
  customShapes: ReadonlySet<string> = new Set(),
): AsyncGenerator<ImportLine> {
  const parseLine = LINE_PARSERS[mode]
  for await (const entry of entries) {
    if ('input' in entry) {
      const { cutShape, ...otherFields } = entry.input
      const text = typeof cutShape === 'string' ? cutShape.trim() : ''
      const isCustomShape = customShapes.has(text) && parseShape(text) === undefined
      const line = isCustomShape
        ? withShape(parseLine(entry.line, otherFields), text)
        : parseLine(entry.line, entry.input)
      yield withFindings(line, entry)
    } else yield entry
  }
}

type ParsedLine = Exclude<ImportLine, OmittedLine>

const withShape = (line: ParsedLine, cutShape: string): ParsedLine =>
  'problems' in line ? line : { ...line, change: { ...line.change, set: { ...line.change.set, cutShape } } }

/** Adds what was found in the line's cells. */
function withFindings(line: ParsedLine, entry: InputEntry): ParsedLine {
  const { notes, report, plainSku, cellProblems = [], findInvalidCells, headingOf } = entry
  if ('change' in line && cellProblems.length === 0)
    return {
      ...line,
      ...(notes && { notes }),
      ...(report !== undefined && { report }),
      ...(plainSku !== undefined && { plainSku }),
    }
  const fieldsOfCells = new Set(cellProblems.flatMap(({ fields }) => fields))
  // Without its cell, a field may also be missing.
  const fieldProblems = 'problems' in line ? line.problems.filter((one) => !fieldsOfCells.has(fieldOf(one))) : []
  const columnOf = (problem: Problem) => {
    const column = headingOf?.(fieldOf(problem))
    return column === undefined ? {} : { column }
  }
  const invalidCells = [...fieldsOfCells, ...fieldProblems.map(fieldOf)].flatMap(
    (field) => findInvalidCells?.(field) ?? [],
  )
  const problems = [
    ...cellProblems.map(({ message, column }): Problem => ({ message, ...(column !== undefined && { column }) })),
    ...fieldProblems.map((problem) => ({ ...problem, ...columnOf(problem) })),
  ]
  return invalidCells.length === 0 ? { line: line.line, problems } : { line: line.line, problems, invalidCells }
}

/** The field of a problem, whose name is its first word. */
const fieldOf = ({ message }: Problem): string => message.split(' ', 1)[0] ?? ''

const LINE_PARSERS = {
  'new stones': (line, input) => {
    const { value, errors } = parseNewDiamond('v4', input, '')
    return value === undefined
      ? { line, problems: errors.map(({ message }) => ({ message })) }
      : { line, change: { set: value, removed: [] } }
  },
  'stones by sku': (line, input) => {
    const { value, errors = [] } = parseFieldChanges('v4', input, '')
    const problems = errors.map(({ message }) => ({ message }))
    const hasSku = input['sku'] !== undefined && input['sku'] !== null
    if (!hasSku)
      return { line, problems: [...problems.filter((one) => fieldOf(one) !== 'sku'), { message: 'sku is required' }] }
    return value === undefined ? { line, problems } : { line, change: value }
  },
} satisfies Readonly<Record<ImportMode, (line: number, input: Readonly<Record<string, unknown>>) => ParsedLine>>

/** Required fields that a new stone from this line would lack. */
export const missingFieldsOf = ({ set }: DiamondFieldChanges): readonly string[] =>
  REQUIRED_FIELDS.filter((name) => set[name] === undefined)

/** Maximum characters of a line; a stone has some hundreds. */
const MAX_LINE_LENGTH = 2 ** 20

/**
 * The entries of a JSON lines file: one object with v4 members per line. An absent member is unspecified, null means no value.
 * @throws UnreadableFile, system errors
 */
export async function* jsonEntries(
  file: string,
  { encoding }: TextFileFormat,
  unknown: 'refused' | 'ignored',
): AsyncGenerator<ImportEntry> {
  let line = 0
  for await (const text of splitLines(textOf(file, encoding) as AsyncIterable<string>)) {
    line++
    if (text.trim() !== '') yield entryOf(line, text, unknown)
  }
}

function entryOf(line: number, text: string, unknown: 'refused' | 'ignored'): ImportEntry {
  try {
    const input: unknown = JSON.parse(text)
    if (!isJsonObject(input))
      return { line, problems: [{ message: `must be a JSON object, got ${describeJsonType(input)}` }] }
    return { line, input: unknown === 'ignored' ? pickKnownFields(input) : input, ...reportIn(input) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { line, problems: [{ message: 'is not valid JSON' }] }
  }
}

/** The report among a diamond's certifications that an export would name. */
function reportIn({ certifications }: Readonly<Record<string, unknown>>): Pick<InputEntry, 'report' | 'notes'> {
  if (!Array.isArray(certifications)) return {}
  const stated = mainReport(certifications.filter(isJsonObject)) ?? {}
  const { report, note } = readReportCells({
    laboratory: textIn(stated['laboratory']),
    number: textIn(stated['number']),
  })
  return { ...(report !== undefined && { report }), ...(note !== undefined && { notes: [note] }) }
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const pickKnownFields = (input: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(BODY_MEMBERS.filter((name) => name in input).map((name) => [name, input[name]]))

const BODY_MEMBERS: readonly string[] = [...bodyMembersOf('v4').keys()]

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let partialLine = ''
  for await (const chunk of chunks) {
    const lines = (partialLine + chunk).split('\n')
    partialLine = lines.pop() ?? ''
    if (partialLine.length > MAX_LINE_LENGTH)
      throw new UnreadableFile(`has a line of more than ${MAX_LINE_LENGTH} characters, so it is not JSON lines`)
    yield* lines
  }
  if (partialLine !== '') yield partialLine
}
