import { comparisonKey } from '../visible-text.ts'
import { splitRange } from './dictionary.ts'

/** A grading without ids: the text that v4 shows is stored. */
export type GradingScale = {
  /** The text to store; undefined if the input is no grade of the scale. */
  readonly parse: (text: string) => string | undefined
  readonly expected: string
}

/**
 * Source of the words and spellings of both gradings: the platform's table of accepted values. Ordered from none or the
 * thinnest up.
 */
const CULET_SIZES = [
  ['N', 'None'],
  ['VS', 'Very Small'],
  ['S', 'Small'],
  ['M', 'Medium'],
  ['SL', 'Slightly Large'],
  ['L', 'Large'],
  ['VL', 'Very Large'],
  ['EL', 'Extremely Large'],
] as const

type CuletSize = (typeof CULET_SIZES)[number][0]

/** Short forms of the culet sizes, smallest first. */
export const culetSizes: readonly CuletSize[] = CULET_SIZES.map(([short]) => short)

const culetSizesBySpelling: ReadonlyMap<string, CuletSize> = new Map(
  CULET_SIZES.flatMap(([short, title]): [string, CuletSize][] => [
    [short.toLowerCase(), short],
    [title.toLowerCase(), short],
  ]),
)

const culetTitles: ReadonlyMap<string, string> = new Map(CULET_SIZES)

/** `Very Small` for `VS`. */
export const culetSizeTitle = (short: string): string => culetTitles.get(short) ?? short

/** A pointed culet counts as none. Sources: IGI's and GCAL's reports (Pointed), RapNet's upload format (P). */
const NO_CULET_SPELLINGS: ReadonlySet<string> = new Set(['pointed', 'point', 'ptd', 'pt', 'p', 'nil', 'non', 'no'])

/** `None`, `none`, `n` and `Pointed` are `N`; undefined for any other text. */
export function parseCuletSize(text: string): CuletSize | undefined {
  const key = comparisonKey(text)
  return NO_CULET_SPELLINGS.has(key) ? 'N' : culetSizesBySpelling.get(key)
}

export const culet: GradingScale = { parse: parseCuletSize, expected: 'a culet size from None to Extremely Large' }

/** RapNet's grade between Thin and Medium, which laboratories do not use. */
const SLIGHTLY_THIN = ['Slightly Thin', 'STN', 'SLTN', 'SLTHN'] as const

const GIRDLES = [
  ['Extremely Thin', 'XTN', 'XTHN', 'EXTN', 'ETN', 'EN', 'XN'],
  ['Very Thin', 'VTN', 'VTHN', 'VTHIN', 'VN'],
  ['Thin', 'TN', 'THN', ...SLIGHTLY_THIN],
  ['Medium', 'M', 'MED', 'MD'],
  ['Slightly Thick', 'STK', 'SLTK', 'SLTHK'],
  ['Thick', 'TK', 'THK', 'THIK', 'THIC'],
  ['Very Thick', 'VTK', 'VTHCK', 'VTHK', 'VTHICK'],
  ['Extremely Thick', 'XTK', 'EXTHICK', 'EXTHK', 'XTHK', 'XTHICK', 'XTHIK', 'ETK', 'EK', 'XK'],
] as const

type GirdleGrade = (typeof GIRDLES)[number][0]

/** Titles of the girdle thicknesses, thinnest first. */
export const girdleGrades: readonly GirdleGrade[] = GIRDLES.map(([title]) => title)

const girdlesBySpelling: ReadonlyMap<string, GirdleGrade> = new Map(
  GIRDLES.flatMap((spellings) =>
    spellings.map((spelling): [string, GirdleGrade] => [spelling.toLowerCase(), spellings[0]]),
  ),
)

/** `Medium`, or for a range `Thin-Thick`, with the thinner end first; a range with equal ends is a single grade. */
export function parseGirdle(text: string): string | undefined {
  const range = parseGirdleRange(text)
  if (range === undefined) return undefined
  const [thinnest, thickest] = range
  return thinnest === thickest ? thinnest : `${thinnest}-${thickest}`
}

/** The finish and the thickness in percent, which reports print next to the grade. */
const GIRDLE_ANNOTATIONS = /\b(?:un)?(?:faceted|polished|bruted|smooth|frosted)\b|\d+(?:[.,]\d+)?\s*%|[(),;]/giu

/**
 * The thinnest and the thickest grade named in a text, equal for a single grade; undefined if it names none.
 * The GIA prints `Medium to Slightly Thick (Faceted) 3.5%`.
 */
export function parseGirdleRange(text: string): readonly [thinnest: GirdleGrade, thickest: GirdleGrade] | undefined {
  const gradeText = text.replaceAll(GIRDLE_ANNOTATIONS, ' ').trim()
  const single = gradeOf(gradeText)
  const [from, to] = single === undefined ? (splitRange(gradeText)?.map(gradeOf) ?? []) : [single, single]
  if (from === undefined || to === undefined) return undefined
  return girdleGrades.indexOf(from) <= girdleGrades.indexOf(to) ? [from, to] : [to, from]
}

const gradeOf = (text: string) => girdlesBySpelling.get(comparisonKey(text))

export const girdle: GradingScale = {
  parse: parseGirdle,
  expected: 'a girdle thickness such as Medium, or a range such as Thin-Medium',
}
