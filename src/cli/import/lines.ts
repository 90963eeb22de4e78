import { FIELD_NAMES, REQUIRED, type Change } from '../../domain/diamond/fields.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { readChange, readNewDiamond } from '../../representations/diamond/read.ts'
import { isObject, kindOf } from '../../representations/json.ts'
import { Failed } from '../../maintenance/operation.ts'
import { textOf, type Form } from './form.ts'

/** A text that is no value of its column's field. */
export type Unread = { readonly column: string; readonly text: string }

/** A line that can't be used, and all that is wrong with it. */
export type BadLine = {
  readonly line: number
  readonly problems: readonly string[]
  readonly unread?: readonly Unread[]
}

/** One line of a file as the v4 API would get it in JSON, or what is wrong with it before anything is read. */
export type Entry =
  | {
      readonly line: number
      readonly input: Readonly<Record<string, unknown>>
      /** What was stored of texts that say more, or something between. */
      readonly notes?: readonly string[]
      /** The texts of a field's columns that are no values of it. */
      readonly unread?: (field: string) => readonly Unread[]
    }
  | BadLine

/** One line that was read by the same rules as the API's input. A stone that is made of it has no more than `set`. */
export type Line = { readonly line: number; readonly change: Change; readonly notes?: readonly string[] } | BadLine

/** What a line is for: a new stone, or whichever has its sku. */
export type Reads = 'new stones' | 'stones by sku'

/**
 * Reads entries as they come; nothing but the one at hand is kept in memory.
 * @param ownShapes texts that are no new cut shapes: a stone has them from before nearly known ones were refused
 */
export async function* readLines(
  entries: AsyncIterable<Entry>,
  reads: Reads,
  ownShapes: ReadonlySet<string> = new Set(),
): AsyncGenerator<Line> {
  const read = READS[reads]
  for await (const entry of entries) {
    if ('input' in entry) {
      const { cutShape, ...others } = entry.input
      const text = typeof cutShape === 'string' ? cutShape.trim() : ''
      const isOwn = ownShapes.has(text) && parseShape(text) === undefined
      const line = isOwn ? withShape(read(entry.line, others), text) : read(entry.line, entry.input)
      const unread = 'change' in line ? [] : unreadOf(entry, line)
      if ('change' in line) yield entry.notes === undefined ? line : { ...line, notes: entry.notes }
      else yield unread.length === 0 ? line : { ...line, unread }
    } else yield entry
  }
}

const withShape = (line: Line, cutShape: string): Line =>
  'problems' in line ? line : { ...line, change: { ...line.change, set: { ...line.change.set, cutShape } } }

/** Those of the fields that have a problem. */
const unreadOf = ({ unread }: Extract<Entry, { input: unknown }>, { problems }: BadLine): readonly Unread[] =>
  unread === undefined ? [] : problems.flatMap((problem) => unread(problem.split(' ', 1)[0] ?? ''))

const READS = {
  'new stones': (line, input) => {
    const { value, faults } = readNewDiamond('v4', input, '')
    return value === undefined
      ? { line, problems: faults.map(({ message }) => message) }
      : { line, change: { set: value, removed: [] } }
  },
  'stones by sku': (line, input) => {
    const { value, faults = [] } = readChange('v4', input, '')
    const problems = faults.map(({ message }) => message)
    const hasSku = input['sku'] !== undefined && input['sku'] !== null
    if (!hasSku) return { line, problems: [...problems.filter((one) => !one.startsWith('sku ')), 'sku is required'] }
    return value === undefined ? { line, problems } : { line, change: value }
  },
} satisfies Readonly<Record<Reads, (line: number, input: Readonly<Record<string, unknown>>) => Line>>

/** What a stone that is to be made of a line lacks. */
export const lackingOf = ({ set }: Change): readonly string[] => REQUIRED.filter((name) => set[name] === undefined)

/** Characters of a line at most: a stone has some hundreds. */
const LONGEST = 2 ** 20

/**
 * The entries of a file that has a JSON object a line, with the members of a v4 diamond. What is absent is not told, null
 * is nothing. @throws Failed, the system's error
 */
export async function* jsonEntries(
  file: string,
  { encoding }: Form,
  unknown: 'refused' | 'ignored',
): AsyncGenerator<Entry> {
  let line = 0
  for await (const text of splitLines(file, textOf(file, encoding) as AsyncIterable<string>)) {
    line++
    if (text.trim() !== '') yield entryOf(line, text, unknown)
  }
}

function entryOf(line: number, text: string, unknown: 'refused' | 'ignored'): Entry {
  try {
    const input: unknown = JSON.parse(text)
    if (!isObject(input)) return { line, problems: [`must be a JSON object, got ${kindOf(input)}`] }
    return { line, input: unknown === 'ignored' ? knownOf(input) : input }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { line, problems: ['is no JSON'] }
  }
}

const knownOf = (input: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(FIELD_NAMES.filter((name) => name in input).map((name) => [name, input[name]]))

async function* splitLines(file: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) throw new Failed(`${file} has a line of over ${LONGEST} characters: it is no JSON lines`)
    yield* lines
  }
  if (rest !== '') yield rest
}
