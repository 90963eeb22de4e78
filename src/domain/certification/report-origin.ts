import { isShapeId, parseShape, rootOf } from '../dictionaries/shapes.ts'
import { LABORATORIES, type Laboratory } from './certification.ts'

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
  /\b(?:shape and cutting style|shape and style|shape and cut|shape\/cut|cutting style|shape)\s?[:=]?\s{0,3}([a-z][a-z -]{2,60})/gi

/** Words of a shape's description, the most telling first. GIA's `Square Emerald Cut` is the trade's Asscher. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bcushion\b/, 'Cushion'],
  [/\bprincess\b/, 'Princess'],
  [/\bmarquise\b/, 'Marquise'],
  [/\bpear\b/, 'Pear'],
  [/\boval\b/, 'Oval'],
  [/\bheart\b/, 'Heart'],
  [/\basscher\b|\bsquare emerald\b/, 'Asscher'],
  [/\bradiant\b|\bcut-?[ -]?cornered (?:square|rectangular) modified brilliant\b/, 'Radiant'],
  [/\bemerald\b/, 'Emerald'],
  [/\bsquare modified brilliant\b/, 'Princess'],
  [/\bround\b/, 'Round'],
]

/** The top-level shape that a report names: its id in the dictionary of cut shapes; null for one that is none of them. */
export function shapeIn(text: string): number | null {
  for (const [, words = ''] of text.matchAll(SHAPE)) {
    const said = words.trim().toLowerCase()
    const title = WORDS.find(([pattern]) => pattern.test(said))?.[1]
    const id = title === undefined ? undefined : parseShape(title)
    if (id !== undefined && isShapeId(id)) return rootOf(id)
  }
  return null
}
