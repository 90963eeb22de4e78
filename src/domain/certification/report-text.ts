import { FACTS, type Fact, type ReportReading } from './certification.ts'
import { claimsOf, settled, type FactsIn } from './claims.ts'
import type { Cell } from './page-cells.ts'
import { girdleIn, lowerIn, starIn } from './report-fine.ts'
import { matchesOf, PERCENT, within, type Found } from './report-numbers.ts'
import { isLabGrownIn, laboratoryIn, shapesIn } from './report-origin.ts'

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
export function readReport(pages: readonly (readonly Cell[])[]): ReportReading {
  const plain = pages.map((cells) => cells.map((cell) => ({ ...cell, text: normalized(cell.text) })))
  const claims = plain.flatMap((cells, page) =>
    claimsOf(cells, factsIn).map((claim) => ({ ...claim, cell: `${page}/${claim.cell}` })),
  )
  const { facts, unclear } = settled(claims)
  const text = plain.map(textOf).join('\n').slice(0, TEXT_MAX)
  return {
    ...(Object.fromEntries(FACTS.map((fact) => [fact, facts.get(fact) ?? null])) as Pick<ReportReading, Fact>),
    laboratory: laboratoryIn(text),
    isLabGrown: isLabGrownIn(text),
    unclear,
  }
}

/** The text of a page, line by line. */
const textOf = (cells: readonly Cell[]): string =>
  cells.map(({ text, y }, index) => (index === 0 ? '' : cells[index - 1]?.y === y ? ' ' : '\n') + text).join('')

/** True where nothing was found. */
export const isEmpty = ({ unclear, ...reading }: ReportReading): boolean =>
  unclear.length === 0 && Object.values(reading).every((value) => value === null)

/** One kind of dash, multiplication sign, decimal point, degree sign and space. */
function normalized(text: string): string {
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

const numbersIn = (text: string): readonly Found<string>[] =>
  matchesOf(text, NUMBER).flatMap(({ value: printed, label, at }) => {
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
const measurementsIn = (text: string): readonly Found<NonNullable<ReportReading['measurements']>>[] =>
  matchesOf(text, MEASUREMENTS).flatMap(({ groups: [first, sign, second, third], label, at }) => {
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
const FINDERS: { readonly [Name in Fact]: (text: string) => readonly Found<NonNullable<ReportReading[Name]>>[] } = {
  number: numbersIn,
  carat: (text) => within(text, CARAT, 0, 10_000),
  measurements: measurementsIn,
  table: (text) => within(text, TABLE, 20, 95),
  depth: (text) => within(text, DEPTH, 20, 95),
  crownAngle: (text) => within(text, CROWN, 5, 65),
  pavilionAngle: (text) => within(text, PAVILION, 20, 65),
  girdle: girdleIn,
  star: starIn,
  lower: lowerIn,
  shape: shapesIn,
}

const factsIn: FactsIn = (text) => FACTS.flatMap((fact) => FINDERS[fact](text).map((found) => ({ fact, ...found })))
