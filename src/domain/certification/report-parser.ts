import { parseShape, rootShapeOf } from '../dictionaries/shapes.ts'
import { REPORT_FACTS, LABORATORIES, type ReportFact, type Laboratory, type ReportReading } from './certification.ts'
import type { TextCell } from './page-cells.ts'

/** Something that a text says: where its label begins, and where the value does. */
export type LabelledMatch<Value> = { readonly value: Value; readonly label: number; readonly at: number }

/** A percentage behind its label: no angle, no length in mm. */
const PERCENT = String.raw`\s?(?:\(%\)|%)?\s?[:=]?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\s?(?:°|mm|x))`

/** Where a pattern finds something, and where its first group begins. */
function findMatches(
  text: string,
  pattern: RegExp,
): readonly (LabelledMatch<string> & { readonly all: string; readonly groups: readonly string[] })[] {
  return [...text.matchAll(new RegExp(pattern, 'dgi'))].flatMap((match) => {
    const [all, ...groups] = match
    const first = groups.findIndex((group) => group !== undefined)
    const at = match.indices?.[first + 1]?.[0]
    const value = groups[first]
    return value === undefined || at === undefined ? [] : [{ value, label: match.index, at, all, groups }]
  })
}

/** The matches whose number is more than `min` and at most `max`. */
const findNumbersInRange = (
  text: string,
  pattern: RegExp,
  min: number,
  max: number,
): readonly LabelledMatch<number>[] =>
  findMatches(text, pattern).flatMap(({ value: digits, label, at }) => {
    const value = Number(digits)
    return value > min && value <= max ? [{ value, label, at }] : []
  })

/** Length of the stars: GIA and others. */
const findStarLengths = (text: string): readonly LabelledMatch<number>[] => findNumbersInRange(text, STAR, 19, 80)

/** Length of the lower halves, which AGS calls lower girdle, HRD pavilion halves, GCAL lower halves. */
const findLowerHalfLengths = (text: string): readonly LabelledMatch<number>[] => findNumbersInRange(text, LOWER, 29, 95)

const STAR = new RegExp(String.raw`\bstars?(?: ?(?:facets?|halves))?(?: ?length)?${PERCENT}`, 'i')
const LOWER = new RegExp(
  String.raw`\b(?:lower ?(?:girdle|half|halves)|length halves pavilion|pavilion halves)(?: ?facets?)?(?: ?length)?${PERCENT}`,
  'i',
)

/** What may stand between the label and the figure: words of thickness and of finish, and nothing else. */
const WORDS = String.raw`(?:thickness|extremely|very|slightly|thin|medium|thick|to|faceted|polished|bruted|[-%,:()/\s]){0,40}`
const FIGURE = String.raw`(\d{1,2}(?:\.\d{1,2})?)`
const GIRDLE = new RegExp(
  String.raw`\b(?<!(?:lower|upper) ?)girdle\b${WORDS}?${FIGURE}\s?%?(?:\s?(?:to|-)\s?${FIGURE}\s?%)?(?!\d|\.\d|\s?(?:°|mm))`,
  'i',
)

/**
 * The girdle's thickness in percent of the width; of a range, its middle. GIA and IGI print `Medium to Slightly Thick
 * (Faceted), 3.5%`, AGS a range, `1.5% to 3.2%`, HRD `Medium 3,5 % Faceted`.
 */
const findGirdleThicknesses = (text: string): readonly LabelledMatch<number>[] =>
  findMatches(text, GIRDLE).flatMap(({ all, groups: [from = '', to = from], label, at }) => {
    const value = (Number(from) + Number(to)) / 2
    return all.includes('%') && value >= 0.1 && value <= 20 ? [{ value: Math.round(value * 100) / 100, label, at }] : []
  })

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
function findLaboratory(text: string): Laboratory | null {
  const named = LABORATORIES.filter((laboratory) => NAMES[laboratory].test(text))
  return named.length === 1 ? (named[0] ?? null) : null
}

/**
 * Whether a text speaks of a laboratory-grown stone, or of a natural one. Where it speaks of both, as small print on
 * both kinds may, or of neither, as older reports do, it says nothing.
 */
function detectLabGrown(text: string): boolean | null {
  const grown = /\b(?:laboratory|lab)[- ]grown\b|\bsynthetic diamond\b/i.test(text)
  const natural = /\bnatural diamond\b|\borigin\s?:?\s{0,3}natural\b/i.test(text)
  return grown === natural ? null : grown
}

/** Whatever follows the label, up to the end of its line or the next one's. */
const SHAPE =
  /\b(?:shape and cutting style|shape and style|shape and cut|shape\/cut|cutting style|shape)\s?[:=]?\s{0,3}([a-z][a-z -]{2,60})/i

/** The top-level shapes that a text names behind their label: ids of the dictionary of cut shapes. */
const findShapes = (text: string): readonly LabelledMatch<number>[] =>
  findMatches(text, SHAPE).flatMap(({ value: said, label, at }) => {
    const words = said.trim().split(/ +/)
    for (let count = words.length; count > 0; count--) {
      const id = parseShape(words.slice(0, count).join(' '))
      if (id !== undefined) return [{ value: rootShapeOf(id), label, at }]
    }
    return []
  })

type ReportFactValue = number | string | Readonly<Record<string, number>>

/** What a text says, by fact. */
export type ReportFactFinder = (
  text: string,
) => readonly (LabelledMatch<ReportFactValue> & { readonly fact: ReportFact })[]

/** A fact that a place of a page is the value of: the cell, and the character in it. */
export type FactCandidate = {
  readonly fact: ReportFact
  readonly value: ReportFactValue
  readonly cell: number
  readonly at: number
}

/** Cells of a page that are looked at; a report has some two hundred. */
const CELLS = 4_000
/** Heights of letters: so far below its label a value may stand, and the second line of a label below its first. */
const MAX_LABEL_DISTANCE = 3
const WRAPPED = 1.6
/** How many times as far as another one a label has to be to be out of the question. */
const FARTHER = 3

/** A cell beside another one, and the blank between them in points. */
type AdjacentCell = { readonly text: string; readonly index: number; readonly distance: number }

/**
 * What the cells of a page say: each cell by itself, and behind the label that is nearest to its left or above it. Where two
 * labels are about as near, it is claimed for both, and so for neither (`settled`).
 */
function findCandidates(cells: readonly TextCell[], factsIn: ReportFactFinder): readonly FactCandidate[] {
  const seen = cells.slice(0, CELLS)
  const claims: FactCandidate[] = []
  const isValue = new Set<number>()
  for (const [index, cell] of seen.entries()) {
    const own = factsIn(cell.text).map(({ fact, value, at }) => ({ fact, value, cell: index, at }))
    const behind = (label: string): FactCandidate[] => {
      const from = label.length + 1
      const found = factsIn(`${label} ${cell.text}`).filter((one) => one.label < from && one.at >= from)
      return found.map(({ fact, value, at }) => ({ fact, value, cell: index, at: at - from }))
    }
    const side = labelOf(leftOf(seen, index), isValue)
    const top = labelOf(aboveOf(seen, index), isValue)
    const bySide = side === undefined ? [] : behind(side.text)
    let byTop = top === undefined ? [] : behind(top.text)
    if (byTop.length === 0 && top !== undefined) {
      const first = labelOf(aboveOf(seen, top.index, WRAPPED), isValue)
      if (first !== undefined) byTop = behind(`${first.text} ${top.text}`)
    }
    const taken = candidatesOfNearerLabel(bySide, byTop, side?.distance ?? Infinity, top?.distance ?? Infinity)
    if (taken.length > 0) isValue.add(index)
    claims.push(...own, ...taken)
  }
  return claims
}

/** What the nearer label says; both where they are about as near. A label at the side that says nothing is one all the same. */
function candidatesOfNearerLabel(
  bySide: readonly FactCandidate[],
  byTop: readonly FactCandidate[],
  side: number,
  top: number,
): readonly FactCandidate[] {
  if (byTop.length === 0) return bySide
  if (side > top * FARTHER) return byTop
  return top > side * FARTHER || bySide.length === 0 ? bySide : [...bySide, ...byTop]
}

/** A cell that may be a label: it has a word and no number, and is no value itself. */
function labelOf(beside: AdjacentCell | undefined, isValue: ReadonlySet<number>): AdjacentCell | undefined {
  if (beside === undefined || isValue.has(beside.index)) return undefined
  return /\p{L}/u.test(beside.text) && !/\d/.test(beside.text) ? beside : undefined
}

/** The next cell to the left on the same line. */
function leftOf(cells: readonly TextCell[], index: number): AdjacentCell | undefined {
  const [cell, left] = [cells[index], cells[index - 1]]
  if (cell === undefined || left === undefined || left.y !== cell.y) return undefined
  return { text: left.text, index: index - 1, distance: Math.max(0, cell.left - left.right) }
}

/** The nearest cell above that stands over a part of it. */
function aboveOf(cells: readonly TextCell[], index: number, heights = MAX_LABEL_DISTANCE): AdjacentCell | undefined {
  const cell = cells[index]
  if (cell === undefined) return undefined
  let found: (AdjacentCell & { readonly y: number; readonly overlap: number }) | undefined
  for (let at = index - 1; at >= 0; at--) {
    const other = cells[at]
    if (other === undefined || cell.y - other.y > heights * Math.max(cell.size, other.size)) break
    if (other.y >= cell.y || (found !== undefined && other.y < found.y)) continue
    const overlap = Math.min(cell.right, other.right) - Math.max(cell.left, other.left)
    if (overlap <= 0 || (found !== undefined && overlap <= found.overlap)) continue
    found = { text: other.text, index: at, distance: Math.max(0, cell.y - cell.size - other.y), y: other.y, overlap }
  }
  return found
}

/** The facts that are claimed in one way alone, and those that may be one thing or another. */
function resolveCandidates(claims: readonly (Omit<FactCandidate, 'cell'> & { readonly cell: unknown })[]): {
  readonly facts: ReadonlyMap<ReportFact, ReportFactValue>
  readonly unclear: readonly ReportFact[]
} {
  const claimants = new Map<string, Set<ReportFact>>()
  const placeOf = ({ cell, at }: { readonly cell: unknown; readonly at: number }) => `${String(cell)}:${at}`
  for (const claim of claims) {
    const facts = claimants.get(placeOf(claim)) ?? new Set<ReportFact>()
    claimants.set(placeOf(claim), facts.add(claim.fact))
  }
  const values = new Map<ReportFact, Map<string, ReportFactValue>>()
  const unclear = new Set<ReportFact>()
  for (const claim of claims) {
    if ((claimants.get(placeOf(claim))?.size ?? 0) > 1) unclear.add(claim.fact)
    else {
      const said = values.get(claim.fact) ?? new Map<string, ReportFactValue>()
      values.set(claim.fact, said.set(JSON.stringify(claim.value), claim.value))
    }
  }
  const facts = new Map<ReportFact, ReportFactValue>()
  for (const [fact, said] of values) {
    const [value, ...others] = said.values()
    if (value !== undefined && others.length === 0) {
      facts.set(fact, value)
      unclear.delete(fact)
    } else unclear.add(fact)
  }
  return { facts, unclear: [...unclear] }
}

/** Characters of a report's text that are looked at. */
const TEXT_MAX = 100_000

/**
 * Finds in a report what laboratories print on it, each in its usual words:
 * GIA `GIA Report Number`, `6.42 - 6.45 x 3.97 mm`, `Table 57%`, `Crown Angle 34.5°`; AGS `Report # AGS-104...`;
 * HRD `Certificate N°`, `Crown height (β) 15.0% (34.6°)`, `Table width`, decimal commas; IGI `Crown Height - Angle 15% -
 * 34.6°`, `Table Size`; IIDGR `Carat`, `Total Depth`; GCAL `Certificate #`, `Table %`.
 * A number outside of what a stone can have is none. What stands near two labels is the value of neither, and what is said
 * in two ways is not said.
 * @param pages the cells of each
 */
export function parseReport(pages: readonly (readonly TextCell[])[]): ReportReading {
  const plain = pages.map((cells) => cells.map((cell) => ({ ...cell, text: normaliseReportText(cell.text) })))
  const claims = plain.flatMap((cells, page) =>
    findCandidates(cells, findReportFacts).map((claim) => ({ ...claim, cell: `${page}/${claim.cell}` })),
  )
  const { facts, unclear } = resolveCandidates(claims)
  const text = plain.map(textOf).join('\n').slice(0, TEXT_MAX)
  return {
    ...(Object.fromEntries(REPORT_FACTS.map((fact) => [fact, facts.get(fact) ?? null])) as Pick<
      ReportReading,
      ReportFact
    >),
    laboratory: findLaboratory(text),
    isLabGrown: detectLabGrown(text),
    unclear,
  }
}

/** The text of a page, line by line. */
const textOf = (cells: readonly TextCell[]): string =>
  cells.map(({ text, y }, index) => (index === 0 ? '' : cells[index - 1]?.y === y ? ' ' : '\n') + text).join('')

/** True where nothing was found. */
export const isEmptyReading = ({ unclear, ...reading }: ReportReading): boolean =>
  unclear.length === 0 && Object.values(reading).every((value) => value === null)

/** One kind of dash, multiplication sign, decimal point, degree sign and space. */
function normaliseReportText(text: string): string {
  return text
    .replaceAll(/[º˚]/g, '°')
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[×✕*]/g, 'x')
    .replaceAll(/(?<=\d),(?=\d)/g, '.')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const NUMBER =
  /\b(?:report|certificate|document|dossier)s?\s?(?:number|num\.?|no\b\.?|n°|nr\b\.?|#|id\b)\s?[:#]?\s{0,3}((?:[a-z]{2,5}[ -]?)?\d{4,16}(?:-\d{1,6})?)\b/i
const LABORATORY = /^(?:GIA|AGSL?|HRD|IGI|IIDGR|GCAL)[ -]?/i

const findReportNumbers = (text: string): readonly LabelledMatch<string>[] =>
  findMatches(text, NUMBER).flatMap(({ value: printed, label, at }) => {
    const value = printed.replace(LABORATORY, '').toUpperCase()
    return value === '' ? [] : [{ value, label, at }]
  })

const CARAT = /\b(?:carat(?: ?weight)?|weight|carats)\s?(?:\(cts?\))?\s?:?\s{0,3}(\d{1,4}\.\d{1,3})\b/i

const SIZE = String.raw`(\d{1,3}\.\d{1,3})\s?(?:mm)?`
const MEASUREMENTS = new RegExp(
  String.raw`\b(?:measurements?|dimensions?)[^\d]{0,24}${SIZE}\s?([-x])\s?${SIZE}\s?x\s?${SIZE}`,
  'i',
)

/** `6.42 - 6.45 x 3.97` is a round stone's smallest and largest diameter; `7.1 x 5.2 x 3.3` length and width. */
const findMeasurements = (text: string): readonly LabelledMatch<NonNullable<ReportReading['measurements']>>[] =>
  findMatches(text, MEASUREMENTS).flatMap(({ groups: [first, sign, second, third], label, at }) => {
    const [a, b, depth] = [Number(first), Number(second), Number(third)]
    if (!(a > 0 && b > 0 && depth > 0)) return []
    return [{ value: sign === '-' ? { length: b, width: a, depth } : { length: a, width: b, depth }, label, at }]
  })

const TABLE = new RegExp(String.raw`\btable(?: ?(?:size|width|diameter|percentage|facet))?${PERCENT}`, 'i')
const DEPTH = new RegExp(
  String.raw`\b(?<!(?:pavilion|crown|girdle|culet) ?)(?:total ?)?depth(?: ?percentage)?${PERCENT}`,
  'i',
)

/**
 * The angle stands behind its own label, or with its sign behind the part or its height: `Crown Height - Angle 15% - 34.6°`,
 * `Crown height (β) 15.0% (34.6°)`. `Pavilion Depth 43` is none.
 */
const angleOf = (part: string) =>
  new RegExp(
    String.raw`\b${part}\b(?: ?angle\s?:?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\.\d|\s?%)|[^\d]{0,28}(?:\d{1,2}(?:\.\d{1,2})?\s?%[^\d]{0,10})?(\d{2}(?:\.\d{1,2})?)\s?°)`,
    'i',
  )
const CROWN = angleOf('crown')
const PAVILION = angleOf('pavilion')

/** How each fact is found in a text. */
const FINDERS: {
  readonly [Name in ReportFact]: (text: string) => readonly LabelledMatch<NonNullable<ReportReading[Name]>>[]
} = {
  number: findReportNumbers,
  carat: (text) => findNumbersInRange(text, CARAT, 0, 10_000),
  measurements: findMeasurements,
  table: (text) => findNumbersInRange(text, TABLE, 20, 95),
  depth: (text) => findNumbersInRange(text, DEPTH, 20, 95),
  crownAngle: (text) => findNumbersInRange(text, CROWN, 5, 65),
  pavilionAngle: (text) => findNumbersInRange(text, PAVILION, 20, 65),
  girdle: findGirdleThicknesses,
  star: findStarLengths,
  lower: findLowerHalfLengths,
  shape: findShapes,
}

const findReportFacts: ReportFactFinder = (text) =>
  REPORT_FACTS.flatMap((fact) => FINDERS[fact](text).map((found) => ({ fact, ...found })))
