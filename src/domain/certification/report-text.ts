import type { ReportReading } from './certification.ts'
import { fineMeasuresIn } from './report-fine.ts'
import { PERCENT, within } from './report-numbers.ts'
import { isLabGrownIn, laboratoryIn, shapeIn } from './report-origin.ts'

/** Characters of a report's text that are looked at. */
const TEXT_MAX = 100_000

/**
 * Finds in a report's text what laboratories print on it, each in its usual words:
 * GIA `GIA Report Number`, `6.42 - 6.45 x 3.97 mm`, `Table 57%`, `Crown Angle 34.5°`; AGS `Report # AGS-104...`;
 * HRD `Crown height (β) 15.0% (34.6°)`, `Table width`, decimal commas; IGI `Crown Height - Angle 15% - 34.6°`,
 * `Table Size`; IIDGR `Carat`, `Total Depth`; GCAL `Certificate #`, `Table %`.
 * A number outside of what a stone can have is none.
 */
export function readReport(text: string): ReportReading {
  const plain = normalized(text)
  return {
    number: numberIn(plain),
    carat: within(plain, CARAT, 0, 10_000),
    measurements: measurementsIn(plain),
    table: within(plain, TABLE, 20, 95),
    depth: within(plain, DEPTH, 20, 95),
    crownAngle: within(plain, CROWN, 5, 65),
    pavilionAngle: within(plain, PAVILION, 20, 65),
    ...fineMeasuresIn(plain),
    laboratory: laboratoryIn(plain),
    shape: shapeIn(plain),
    isLabGrown: isLabGrownIn(plain),
  }
}

/** True where nothing was found. */
export const isEmpty = (reading: ReportReading): boolean => Object.values(reading).every((value) => value === null)

/** One kind of dash, multiplication sign, decimal point and space; no dots that lead from a label to its value. */
function normalized(text: string): string {
  return text
    .slice(0, TEXT_MAX)
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[×✕*]/g, 'x')
    .replaceAll(/(?<=\d),(?=\d)/g, '.')
    .replaceAll(/\.{2,}|(?:\. ){2,}|[…·]+/g, ' ')
    .replaceAll(/[^\S\n]+/g, ' ')
}

const NUMBER =
  /\b(?:report|certificate|document|dossier)s?\s?(?:number|num\.?|no\b\.?|nr\b\.?|#|id\b)\s?[:#]?\s{0,3}((?:[a-z]{2,5}[ -]?)?\d{4,16}(?:-\d{1,6})?)\b/i
const LABORATORY = /^(?:GIA|AGSL?|HRD|IGI|IIDGR|GCAL)[ -]?/i

function numberIn(text: string): string | null {
  const found = NUMBER.exec(text)?.[1]?.replace(LABORATORY, '')
  return found === undefined || found === '' ? null : found.toUpperCase()
}

const CARAT = /\b(?:carat(?: ?weight)?|weight|carats)\s?(?:\(cts?\))?\s?:?\s{0,3}(\d{1,4}\.\d{1,3})\b/i

const SIZE = String.raw`(\d{1,3}\.\d{1,3})\s?(?:mm)?`
const MEASUREMENTS = new RegExp(
  String.raw`\b(?:measurements?|dimensions?)[^\d]{0,24}${SIZE}\s?([-x])\s?${SIZE}\s?x\s?${SIZE}`,
  'i',
)

/** `6.42 - 6.45 x 3.97` is a round stone's smallest and largest diameter; `7.1 x 5.2 x 3.3` length and width. */
function measurementsIn(text: string): ReportReading['measurements'] {
  const [, first, sign, second, third] = MEASUREMENTS.exec(text) ?? []
  const [a, b, depth] = [Number(first), Number(second), Number(third)]
  if (!(a > 0 && b > 0 && depth > 0)) return null
  return sign === '-' ? { length: b, width: a, depth } : { length: a, width: b, depth }
}

const TABLE = new RegExp(String.raw`\btable(?: ?(?:size|width|diameter|percentage|facet))?${PERCENT}`, 'i')
const DEPTH = new RegExp(
  String.raw`\b(?<!(?:pavilion|crown|girdle|culet) ?)(?:total ?)?depth(?: ?percentage)?${PERCENT}`,
  'i',
)

/** The angle stands alone, or behind the height: `Crown Height - Angle 15% - 34.6°`, `Crown height (β) 15.0% (34.6°)`. */
const angleOf = (part: string) =>
  new RegExp(
    String.raw`\b${part}\b(?: ?angle\s?:?\s{0,3}|[^\d]{0,28}(?:\d{1,2}(?:\.\d{1,2})?\s?%[^\d\n]{0,10})?)(\d{2}(?:\.\d{1,2})?)(?!\d|\.\d|\s?%)`,
    'i',
  )
const CROWN = angleOf('crown')
const PAVILION = angleOf('pavilion')
