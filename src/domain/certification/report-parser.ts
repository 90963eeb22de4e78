import { parseShape, rootShapeOf } from '../dictionaries/shapes.ts'
import { REPORT_FACTS, LABORATORIES, type ReportFact, type Laboratory, type ReportReading } from './certification.ts'
import { isLabGrownReportNumber, LAB_GROWN_WORDS } from './lab-grown.ts'
import type { TextCell } from './page-cells.ts'

/**
 * Reads the facts that laboratories print in reports, each in their own wording:
 * GIA `GIA Report Number`, `6.42 - 6.45 x 3.97 mm`, `Table 57%`, `Crown Angle 34.5°`; AGS `Report # AGS-104...`;
 * HRD `Certificate N°`, `Crown height (β) 15.0% (34.6°)`, `Table width`, decimal commas; IGI `Crown Height - Angle 15% -
 * 34.6°`, `Table Size`; IIDGR `Carat`, `Total Depth`; GCAL `Certificate #`, `Table %`.
 * Numbers outside a fact's plausible range are ignored. Ambiguous facts are null and listed in `unclear`.
 * @param pages the cells of each page
 */
export function parseReport(pages: readonly (readonly TextCell[])[]): ReportReading {
  const normalisedPages = pages.map((cells) => cells.map((cell) => ({ ...cell, text: normaliseReportText(cell.text) })))
  const candidates = normalisedPages.flatMap((cells, page) =>
    findCandidates(cells, findReportFacts).map((candidate) => ({ ...candidate, cell: `${page}/${candidate.cell}` })),
  )
  const { facts, unclear } = resolveCandidates(candidates)
  const text = normalisedPages.map(textOf).join('\n').slice(0, TEXT_MAX)
  const number = facts.get('number')
  return {
    ...(Object.fromEntries(REPORT_FACTS.map((fact) => [fact, facts.get(fact) ?? null])) as Pick<
      ReportReading,
      ReportFact
    >),
    laboratory: findLaboratory(text),
    isLabGrown: detectLabGrown(text, typeof number === 'string' ? number : ''),
    unclear,
  }
}

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

type ReportFactFinder = (text: string) => readonly (LabelledMatch<ReportFactValue> & { readonly fact: ReportFact })[]

/** A possible value of a fact. `cell` and `valueIndex` are the index of the cell and of the character in it. */
type FactCandidate = {
  readonly fact: ReportFact
  readonly value: ReportFactValue
  readonly cell: number
  readonly valueIndex: number
}

/**
 * The candidates on a page: from the text of each cell alone, and from each cell with the nearest label to its left or above.
 * If both labels are about equally near, the value is a candidate for both facts and therefore ambiguous (`resolveCandidates`).
 */
function findCandidates(cells: readonly TextCell[], findFacts: ReportFactFinder): readonly FactCandidate[] {
  const searchedCells = cells.slice(0, MAX_CELLS)
  const candidates: FactCandidate[] = []
  const valueCells = new Set<number>()
  for (const [index, cell] of searchedCells.entries()) {
    const ownCandidates = findFacts(cell.text).map(({ fact, value, valueIndex }) => ({
      fact,
      value,
      cell: index,
      valueIndex,
    }))
    const candidatesAfterLabel = (labelText: string): FactCandidate[] => {
      const cellStart = labelText.length + 1
      const matches = findFacts(`${labelText} ${cell.text}`).filter(
        (match) => match.labelIndex < cellStart && match.valueIndex >= cellStart,
      )
      return matches.map(({ fact, value, valueIndex }) => ({
        fact,
        value,
        cell: index,
        valueIndex: valueIndex - cellStart,
      }))
    }
    const leftLabel = labelOf(leftNeighbour(searchedCells, index), valueCells)
    const topLabel = labelOf(upperNeighbour(searchedCells, index), valueCells)
    const leftCandidates = leftLabel === undefined ? [] : candidatesAfterLabel(leftLabel.text)
    let topCandidates = topLabel === undefined ? [] : candidatesAfterLabel(topLabel.text)
    if (topCandidates.length === 0 && topLabel !== undefined) {
      const firstLine = labelOf(upperNeighbour(searchedCells, topLabel.index, MAX_LABEL_LINE_DISTANCE), valueCells)
      if (firstLine !== undefined) topCandidates = candidatesAfterLabel(`${firstLine.text} ${topLabel.text}`)
    }
    const labelledCandidates = candidatesOfNearerLabel(
      leftCandidates,
      topCandidates,
      leftLabel?.distance ?? Infinity,
      topLabel?.distance ?? Infinity,
    )
    if (labelledCandidates.length > 0) valueCells.add(index)
    candidates.push(...ownCandidates, ...labelledCandidates)
  }
  return candidates
}

/** Maximum number of cells of a page that are considered; a report has about two hundred. */
const MAX_CELLS = 4_000

/** A neighbouring cell and the gap to it in points. */
type AdjacentCell = { readonly text: string; readonly index: number; readonly distance: number }

/** The neighbour if it can be a label: it contains letters and no digits, and is not a value itself. */
function labelOf(neighbour: AdjacentCell | undefined, valueCells: ReadonlySet<number>): AdjacentCell | undefined {
  if (neighbour === undefined || valueCells.has(neighbour.index)) return undefined
  return /\p{L}/u.test(neighbour.text) && !/\d/.test(neighbour.text) ? neighbour : undefined
}

function leftNeighbour(cells: readonly TextCell[], index: number): AdjacentCell | undefined {
  const [cell, left] = [cells[index], cells[index - 1]]
  if (cell === undefined || left === undefined || left.y !== cell.y) return undefined
  return { text: left.text, index: index - 1, distance: Math.max(0, cell.left - left.right) }
}

/** The nearest cell above that overlaps horizontally; of several in one line, the one with the largest overlap. */
function upperNeighbour(
  cells: readonly TextCell[],
  index: number,
  maxDistance = MAX_LABEL_DISTANCE,
): AdjacentCell | undefined {
  const cell = cells[index]
  if (cell === undefined) return undefined
  let nearest: (AdjacentCell & { readonly y: number; readonly overlap: number }) | undefined
  for (let otherIndex = index - 1; otherIndex >= 0; otherIndex--) {
    const other = cells[otherIndex]
    if (other === undefined || cell.y - other.y > maxDistance * Math.max(cell.size, other.size)) break
    if (other.y >= cell.y || (nearest !== undefined && other.y < nearest.y)) continue
    const overlap = Math.min(cell.right, other.right) - Math.max(cell.left, other.left)
    if (overlap <= 0 || (nearest !== undefined && overlap <= nearest.overlap)) continue
    nearest = {
      text: other.text,
      index: otherIndex,
      distance: Math.max(0, cell.y - cell.size - other.y),
      y: other.y,
      overlap,
    }
  }
  return nearest
}

/** Maximum distances, in font sizes, from a value to the label above it and between two lines of a label. */
const MAX_LABEL_DISTANCE = 3

const MAX_LABEL_LINE_DISTANCE = 1.6

/** The candidates of the nearer label, or of both if they are about equally near. A nearer label without a candidate still counts. */
function candidatesOfNearerLabel(
  leftCandidates: readonly FactCandidate[],
  topCandidates: readonly FactCandidate[],
  leftDistance: number,
  topDistance: number,
): readonly FactCandidate[] {
  if (topCandidates.length === 0) return leftCandidates
  if (leftDistance > topDistance * MAX_DISTANCE_RATIO) return topCandidates
  return topDistance > leftDistance * MAX_DISTANCE_RATIO || leftCandidates.length === 0
    ? leftCandidates
    : [...leftCandidates, ...topCandidates]
}

/** A label is ignored if it is this many times farther away than another one. */
const MAX_DISTANCE_RATIO = 3

const findReportFacts: ReportFactFinder = (text) =>
  REPORT_FACTS.flatMap((fact) => FINDERS[fact](text).map((match) => ({ fact, ...match })))

/** A percentage after its label; no angle and no length in mm. */
const PERCENT = String.raw`\s?(?:\(%\)|%)?\s?[:=]?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\s?(?:°|mm|x))`

/** A match in a text. `labelIndex` and `valueIndex` are the indices of its label and its value. */
type LabelledMatch<Value> = { readonly value: Value; readonly labelIndex: number; readonly valueIndex: number }

const findNumbersInRange = (
  text: string,
  pattern: RegExp,
  min: number,
  max: number,
): readonly LabelledMatch<number>[] =>
  findMatches(text, pattern).flatMap(({ value: digits, labelIndex, valueIndex }) => {
    const value = Number(digits)
    return value > min && value <= max ? [{ value, labelIndex, valueIndex }] : []
  })

/** All matches of a pattern. The value is the first group that matched. */
function findMatches(
  text: string,
  pattern: RegExp,
): readonly (LabelledMatch<string> & { readonly matchedText: string; readonly groups: readonly string[] })[] {
  return [...text.matchAll(new RegExp(pattern, 'dgi'))].flatMap((match) => {
    const [matchedText, ...groups] = match
    const groupIndex = groups.findIndex((group) => group !== undefined)
    const valueIndex = match.indices?.[groupIndex + 1]?.[0]
    const value = groups[groupIndex]
    return value === undefined || valueIndex === undefined
      ? []
      : [{ value, labelIndex: match.index, valueIndex, matchedText, groups }]
  })
}

const findStarLengths = (text: string): readonly LabelledMatch<number>[] => findNumbersInRange(text, STAR, 19, 80)

const STAR = new RegExp(String.raw`\bstars?(?: ?(?:facets?|halves))?(?: ?length)?${PERCENT}`, 'i')

/** AGS calls these lengths lower girdle, HRD pavilion halves, GCAL lower halves. */
const findLowerHalfLengths = (text: string): readonly LabelledMatch<number>[] => findNumbersInRange(text, LOWER, 29, 95)

const LOWER = new RegExp(
  String.raw`\b(?:lower ?(?:girdle|half|halves)|length halves pavilion|pavilion halves)(?: ?facets?)?(?: ?length)?${PERCENT}`,
  'i',
)

/** The words that may be between the label and the figure: thickness and finish. */
const GIRDLE_WORDS = String.raw`(?:thickness|extremely|very|slightly|thin|medium|thick|to|faceted|polished|bruted|[-%,:()/\s]){0,40}`

const FIGURE = String.raw`(\d{1,2}(?:\.\d{1,2})?)`

const GIRDLE = new RegExp(
  String.raw`\b(?<!(?:lower|upper) ?)girdle\b${GIRDLE_WORDS}?${FIGURE}\s?%?(?:\s?(?:to|-)\s?${FIGURE}\s?%)?(?!\d|\.\d|\s?(?:°|mm))`,
  'i',
)

/**
 * The girdle's thickness in percent of the width; the middle of a range. GIA and IGI print `Medium to Slightly Thick
 * (Faceted), 3.5%`, AGS a range, `1.5% to 3.2%`, HRD `Medium 3,5 % Faceted`.
 */
const findGirdleThicknesses = (text: string): readonly LabelledMatch<number>[] =>
  findMatches(text, GIRDLE).flatMap(({ matchedText, groups: [from = '', to = from], labelIndex, valueIndex }) => {
    const value = (Number(from) + Number(to)) / 2
    return matchedText.includes('%') && value >= 0.1 && value <= 20
      ? [{ value: Math.round(value * 100) / 100, labelIndex, valueIndex }]
      : []
  })

/** Captures the letters, spaces and hyphens after the label; `findShapes` drops trailing words until a shape matches. */
const SHAPE =
  /\b(?:shape and cutting style|shape and style|shape and cut|shape\/cut|cutting style|shape)\s?[:=]?\s{0,3}([a-z][a-z -]{2,60})/i

const findShapes = (text: string): readonly LabelledMatch<number>[] =>
  findMatches(text, SHAPE).flatMap(({ value: description, labelIndex, valueIndex }) => {
    const words = description.trim().split(/ +/)
    for (let count = words.length; count > 0; count--) {
      const id = parseShape(words.slice(0, count).join(' '))
      if (id !== undefined) return [{ value: rootShapeOf(id), labelIndex, valueIndex }]
    }
    return []
  })

const NUMBER =
  /\b(?:report|certificate|document|dossier)s?\s?(?:number|num\.?|no\b\.?|n°|nr\b\.?|#|id\b)\s?[:#]?\s{0,3}((?:[a-z]{2,5}[ -]?)?\d{4,16}(?:-\d{1,6})?)\b/i

const LABORATORY_PREFIX = /^(?:GIA|AGSL?|HRD|IGI|IIDGR|GCAL)[ -]?/i

const findReportNumbers = (text: string): readonly LabelledMatch<string>[] =>
  findMatches(text, NUMBER).flatMap(({ value: printed, labelIndex, valueIndex }) => {
    const value = printed.replace(LABORATORY_PREFIX, '').toUpperCase()
    return value === '' ? [] : [{ value, labelIndex, valueIndex }]
  })

const SIZE = String.raw`(\d{1,3}\.\d{1,3})\s?(?:mm)?`

const MEASUREMENTS = new RegExp(
  String.raw`\b(?:measurements?|dimensions?)[^\d]{0,24}${SIZE}\s?([-x])\s?${SIZE}\s?x\s?${SIZE}`,
  'i',
)

/** `6.42 - 6.45 x 3.97`: smallest and largest diameter of a round; `7.1 x 5.2 x 3.3`: length and width. The last is the depth. */
const findMeasurements = (text: string): readonly LabelledMatch<NonNullable<ReportReading['measurements']>>[] =>
  findMatches(text, MEASUREMENTS).flatMap(({ groups: [first, sign, second, third], labelIndex, valueIndex }) => {
    const [a, b, depth] = [Number(first), Number(second), Number(third)]
    if (!(a > 0 && b > 0 && depth > 0)) return []
    return [
      { value: sign === '-' ? { length: b, width: a, depth } : { length: a, width: b, depth }, labelIndex, valueIndex },
    ]
  })

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

const CARAT = /\b(?:carat(?: ?weight)?|weight|carats)\s?(?:\(cts?\))?\s?:?\s{0,3}(\d{1,4}\.\d{1,3})\b/i

const TABLE = new RegExp(String.raw`\btable(?: ?(?:size|width|diameter|percentage|facet))?${PERCENT}`, 'i')

const DEPTH = new RegExp(
  String.raw`\b(?<!(?:pavilion|crown|girdle|culet) ?)(?:total ?)?depth(?: ?percentage)?${PERCENT}`,
  'i',
)

/**
 * The angle follows its own label, or it has a degree sign and follows the label of the part or its height:
 * `Crown Height - Angle 15% - 34.6°`, `Crown height (β) 15.0% (34.6°)`. `Pavilion Depth 43` is no angle.
 */
const angleOf = (part: string) =>
  new RegExp(
    String.raw`\b${part}\b(?: ?angle\s?:?\s{0,3}(\d{2}(?:\.\d{1,2})?)(?!\d|\.\d|\s?%)|[^\d]{0,28}(?:\d{1,2}(?:\.\d{1,2})?\s?%[^\d]{0,10})?(\d{2}(?:\.\d{1,2})?)\s?°)`,
    'i',
  )

const CROWN = angleOf('crown')

const PAVILION = angleOf('pavilion')

type ReportFactValue = number | string | Readonly<Record<string, number>>

/** Splits the candidates into facts with one unambiguous value and unclear facts. */
function resolveCandidates(candidates: readonly (Omit<FactCandidate, 'cell'> & { readonly cell: unknown })[]): {
  readonly facts: ReadonlyMap<ReportFact, ReportFactValue>
  readonly unclear: readonly ReportFact[]
} {
  const factsByPosition = new Map<string, Set<ReportFact>>()
  const positionOf = ({ cell, valueIndex }: { readonly cell: unknown; readonly valueIndex: number }) =>
    `${String(cell)}:${valueIndex}`
  for (const candidate of candidates) {
    const facts = factsByPosition.get(positionOf(candidate)) ?? new Set<ReportFact>()
    factsByPosition.set(positionOf(candidate), facts.add(candidate.fact))
  }
  const valuesByFact = new Map<ReportFact, Map<string, ReportFactValue>>()
  const unclear = new Set<ReportFact>()
  for (const candidate of candidates) {
    if ((factsByPosition.get(positionOf(candidate))?.size ?? 0) > 1) unclear.add(candidate.fact)
    else {
      const factValues = valuesByFact.get(candidate.fact) ?? new Map<string, ReportFactValue>()
      valuesByFact.set(candidate.fact, factValues.set(JSON.stringify(candidate.value), candidate.value))
    }
  }
  const facts = new Map<ReportFact, ReportFactValue>()
  for (const [fact, factValues] of valuesByFact) {
    const [value, ...others] = factValues.values()
    if (value !== undefined && others.length === 0) {
      facts.set(fact, value)
      unclear.delete(fact)
    } else unclear.add(fact)
  }
  return { facts, unclear: [...unclear] }
}

const textOf = (cells: readonly TextCell[]): string =>
  cells.map(({ text, y }, index) => (index === 0 ? '' : cells[index - 1]?.y === y ? ' ' : '\n') + text).join('')

/** Maximum number of characters of a report that are searched for the laboratory and the origin. */
const TEXT_MAX = 100_000

/** The laboratory named in a text; null if there is none, or more than one. */
export function findLaboratory(text: string): Laboratory | null {
  const laboratories = LABORATORIES.filter((laboratory) => LABORATORY_NAMES[laboratory].test(text))
  return laboratories.length === 1 ? (laboratories[0] ?? null) : null
}

const LABORATORY_NAMES: Readonly<Record<Laboratory, RegExp>> = {
  GIA: /\bGIA\b|\bgemological institute of america\b/i,
  AGS: /\bAGSL?\b|\bamerican gem society\b/i,
  HRD: /\bHRD\b/i,
  IGI: /\bIGI\b|\binternational gemological institute\b/i,
  IIDGR: /\bIIDGR\b|\binternational institute of diamond grading\b/i,
  GCAL: /\bGCAL\b|\bgem certification (?:and|&) assurance lab/i,
}

const LAB_GROWN = new RegExp(String.raw`${LAB_GROWN_WORDS}|\bsynthetic diamond\b`, 'i')

/**
 * Whether a report describes a laboratory-grown or a natural diamond, by its text and its number; null if it mentions both, as
 * small print may, or neither, as in older reports.
 */
function detectLabGrown(text: string, number: string): boolean | null {
  const mentionsLabGrown = LAB_GROWN.test(text) || isLabGrownReportNumber(number)
  const mentionsNatural = /\bnatural diamond\b|\borigin\s?:?\s{0,3}natural\b/i.test(text)
  return mentionsLabGrown === mentionsNatural ? null : mentionsLabGrown
}

export const isEmptyReading = ({ unclear, ...reading }: ReportReading): boolean =>
  unclear.length === 0 && Object.values(reading).every((value) => value === null)
