import { MOST_CORNERS } from './draft.ts'
import { quoted, UnreadableMesh } from './unreadable-mesh.ts'

/** A line that is not blank, counted from 1, and its words. */
export type Line = { readonly number: number; readonly words: readonly string[] }

/** A line's words are a facet's corners at most, and their colours. */
const MOST_WORDS = 2 * MOST_CORNERS
const COMMENT = '#'.charCodeAt(0)
const BLANK = ' '.charCodeAt(0)

/** The lines of a text that hold more than blanks and a comment, one after the other: never all of them at once. */
export function* linesOf(text: string): Generator<Line> {
  let number = 0
  for (let from = 0; from < text.length;) {
    number += 1
    const newline = text.indexOf('\n', from)
    const end = newline < 0 ? text.length : newline
    const words = wordsOf(text, from, end, number)
    if (words.length > 0) yield { number, words }
    from = end + 1
  }
}

function wordsOf(text: string, from: number, end: number, number: number): string[] {
  const words: string[] = []
  let start = -1
  for (let index = from; index <= end; index++) {
    const code = index === end ? COMMENT : text.charCodeAt(index)
    if (start >= 0 && (code <= BLANK || code === COMMENT)) {
      words.push(text.slice(start, index))
      start = -1
    }
    if (code === COMMENT) break
    if (code > BLANK && start < 0) start = index
    if (words.length > MOST_WORDS) throw new UnreadableMesh(`Line ${number} holds more than ${MOST_WORDS} words`)
  }
  return words
}

/** Longer than any number that a double can hold exactly. */
const LONGEST = 64
const PLAIN = new Set([...'0123456789+-.eE'].map((letter) => letter.charCodeAt(0)))

function isPlain(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (!PLAIN.has(word.charCodeAt(index))) return false
  return word.length > 0
}

/** The number that a word says; hexadecimal and words like Infinity are none. @throws UnreadableMesh */
function numberOf(word: string, line: number): number {
  const value = word.length <= LONGEST && isPlain(word) ? Number(word) : NaN
  if (Number.isNaN(value)) throw new UnreadableMesh(`Line ${line}: ${quoted(word)} must be a number like -1.25 or 3e-4`)
  return value
}

/** @throws UnreadableMesh */
export function wholeOf(word: string, line: number): number {
  const value = numberOf(word, line)
  if (!Number.isSafeInteger(value)) throw new UnreadableMesh(`Line ${line}: ${quoted(word)} must be a whole number`)
  return value
}

/** The first three words as a point's coordinates. @throws UnreadableMesh */
export function pointOf(words: readonly string[], line: number): [x: number, y: number, z: number] {
  const [x, y, z] = words
  if (x === undefined || y === undefined || z === undefined)
    throw new UnreadableMesh(`Line ${line}: a point needs three coordinates, got ${words.length}`)
  return [numberOf(x, line), numberOf(y, line), numberOf(z, line)]
}
