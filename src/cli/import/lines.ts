import { FIELD_NAMES, REQUIRED_FIELDS, type DiamondFieldChanges } from '../../domain/diamond/fields.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { parseFieldChanges, parseNewDiamond } from '../../representations/diamond/parse-diamond.ts'
import { isJsonObject, describeJsonType } from '../../representations/json.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { textOf, type TextFileFormat } from './text-file-format.ts'

/** A text that is no value of its column's field. */
export type InvalidCell = { readonly column: string; readonly text: string }

/** A line that can't be used, and all that is wrong with it. */
export type BadLine = {
  readonly line: number
  readonly problems: readonly string[]
  readonly unread?: readonly InvalidCell[]
}

/** One line of a file as the v4 API would get it in JSON, or what is wrong with it before anything is read. */
export type ImportEntry =
  | {
      readonly line: number
      readonly input: Readonly<Record<string, unknown>>
      /** What was stored of texts that say more, or something between. */
      readonly notes?: readonly string[]
      /** The texts of a field's columns that are no values of it. */
      readonly unread?: (field: string) => readonly InvalidCell[]
    }
  | BadLine

/** One line that was read by the same rules as the API's input. A stone that is made of it has no more than `set`. */
export type ImportLine =
  { readonly line: number; readonly change: DiamondFieldChanges; readonly notes?: readonly string[] } | BadLine

/** What a line is for: a new stone, or whichever has its sku. */
export type ImportMode = 'new stones' | 'stones by sku'

/**
 * Reads entries as they come; nothing but the one at hand is kept in memory.
 * @param ownShapes texts that are no new cut shapes: a stone has them from before nearly known ones were refused
 */
export async function* readLines(
  entries: AsyncIterable<ImportEntry>,
  reads: ImportMode,
  ownShapes: ReadonlySet<string> = new Set(),
): AsyncGenerator<ImportLine> {
  const read = LINE_READERS[reads]
  for await (const entry of entries) {
    if ('input' in entry) {
      const { cutShape, ...others } = entry.input
      const text = typeof cutShape === 'string' ? cutShape.trim() : ''
      const isOwn = ownShapes.has(text) && parseShape(text) === undefined
      const line = isOwn ? withShape(read(entry.line, others), text) : read(entry.line, entry.input)
      const unread = 'change' in line ? [] : invalidCellsOf(entry, line)
      if ('change' in line) yield entry.notes === undefined ? line : { ...line, notes: entry.notes }
      else yield unread.length === 0 ? line : { ...line, unread }
    } else yield entry
  }
}

const withShape = (line: ImportLine, cutShape: string): ImportLine =>
  'problems' in line ? line : { ...line, change: { ...line.change, set: { ...line.change.set, cutShape } } }

/** Those of the fields that have a problem. */
const invalidCellsOf = (
  { unread }: Extract<ImportEntry, { input: unknown }>,
  { problems }: BadLine,
): readonly InvalidCell[] =>
  unread === undefined ? [] : problems.flatMap((problem) => unread(problem.split(' ', 1)[0] ?? ''))

const LINE_READERS = {
  'new stones': (line, input) => {
    const { value, errors } = parseNewDiamond('v4', input, '')
    return value === undefined
      ? { line, problems: errors.map(({ message }) => message) }
      : { line, change: { set: value, removed: [] } }
  },
  'stones by sku': (line, input) => {
    const { value, errors = [] } = parseFieldChanges('v4', input, '')
    const problems = errors.map(({ message }) => message)
    const hasSku = input['sku'] !== undefined && input['sku'] !== null
    if (!hasSku) return { line, problems: [...problems.filter((one) => !one.startsWith('sku ')), 'sku is required'] }
    return value === undefined ? { line, problems } : { line, change: value }
  },
} satisfies Readonly<Record<ImportMode, (line: number, input: Readonly<Record<string, unknown>>) => ImportLine>>

/** What a stone that is to be made of a line lacks. */
export const missingFieldsOf = ({ set }: DiamondFieldChanges): readonly string[] =>
  REQUIRED_FIELDS.filter((name) => set[name] === undefined)

/** Characters of a line at most: a stone has some hundreds. */
const MAX_LINE_LENGTH = 2 ** 20

/**
 * The entries of a file that has a JSON object a line, with the members of a v4 diamond. What is absent is not told, null
 * is nothing. @throws Failed, the system's error
 */
export async function* jsonEntries(
  file: string,
  { encoding }: TextFileFormat,
  unknown: 'refused' | 'ignored',
): AsyncGenerator<ImportEntry> {
  let line = 0
  for await (const text of splitLines(file, textOf(file, encoding) as AsyncIterable<string>)) {
    line++
    if (text.trim() !== '') yield entryOf(line, text, unknown)
  }
}

function entryOf(line: number, text: string, unknown: 'refused' | 'ignored'): ImportEntry {
  try {
    const input: unknown = JSON.parse(text)
    if (!isJsonObject(input)) return { line, problems: [`must be a JSON object, got ${describeJsonType(input)}`] }
    return { line, input: unknown === 'ignored' ? pickKnownFields(input) : input }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { line, problems: ['is no JSON'] }
  }
}

const pickKnownFields = (input: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(FIELD_NAMES.filter((name) => name in input).map((name) => [name, input[name]]))

async function* splitLines(file: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_LENGTH)
      throw new OperationFailure(`${file} has a line of over ${MAX_LINE_LENGTH} characters: it is no JSON lines`)
    yield* lines
  }
  if (rest !== '') yield rest
}
