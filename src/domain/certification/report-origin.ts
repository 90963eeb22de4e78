import { parseShape, rootOf } from '../dictionaries/shapes.ts'
import { LABORATORIES, type Laboratory } from './certification.ts'
import { matchesOf, type Found } from './report-numbers.ts'

/** Names of laboratories as reports print them; the abbreviations stand for themselves. */
const NAMES: Readonly<Record<Laboratory, RegExp>> = {
  GIA: /\bGIA\b|\bgemological institute of america\b/i,
  AGS: /\bAGSL?\b|\bamerican gem society\b/i,
  HRD: /\bHRD\b/i,
  IGI: /\bIGI\b|\binternational gemological institute\b/i,
  IIDGR: /\bIIDGR\b|\binternational institute of diamond grading\b/i,
  GCAL: /\bGCAL\b|\bgem certification (?:and|&) assurance lab/i,
}

/** The one laboratory that a text names. Where it names several, nobody can tell by these words whose report it is. */
export function laboratoryIn(text: string): Laboratory | null {
  const named = LABORATORIES.filter((laboratory) => NAMES[laboratory].test(text))
  return named.length === 1 ? (named[0] ?? null) : null
}

/**
 * Whether a text speaks of a laboratory-grown stone, or of a natural one. Where it speaks of both, as small print on
 * both kinds may, or of neither, as older reports do, it says nothing.
 */
export function isLabGrownIn(text: string): boolean | null {
  const grown = /\b(?:laboratory|lab)[- ]grown\b|\bsynthetic diamond\b/i.test(text)
  const natural = /\bnatural diamond\b|\borigin\s?:?\s{0,3}natural\b/i.test(text)
  return grown === natural ? null : grown
}

/** Whatever follows the label, up to the end of its line or the next one's. */
const SHAPE =
  /\b(?:shape and cutting style|shape and style|shape and cut|shape\/cut|cutting style|shape)\s?[:=]?\s{0,3}([a-z][a-z -]{2,60})/i

/** The top-level shapes that a text names behind their label: ids of the dictionary of cut shapes. */
export const shapesIn = (text: string): readonly Found<number>[] =>
  matchesOf(text, SHAPE).flatMap(({ value: said, label, at }) => {
    const words = said.trim().split(/ +/)
    for (let count = words.length; count > 0; count--) {
      const id = parseShape(words.slice(0, count).join(' '))
      if (id !== undefined) return [{ value: rootOf(id), label, at }]
    }
    return []
  })
