import { FIELD_NAMES } from '../../domain/diamond/fields.ts'
import { isObject, kindOf } from '../../representations/json.ts'
import { Failed } from '../failure.ts'
import { textOf, type Form } from './form.ts'
import type { Entry } from './lines.ts'

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
