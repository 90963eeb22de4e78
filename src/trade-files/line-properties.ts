import { isLabGrownReportNumber, LAB_GROWN_WORDS } from '../domain/certification/lab-grown.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import type { ReportCells } from './report-cells.ts'
import { splitHeadings } from './trade-columns.ts'

/** What a cell says of its line. */
export type LineStatement = {
  readonly isAvailable?: false
  readonly isLabGrown?: boolean
  readonly reportCells?: ReportCells
}

/** A statement, none, or a problem, which makes the line invalid. */
type Reading = LineStatement | { readonly problem: string } | undefined

type LinePropertyRules = {
  readonly headings: readonly string[]
  /** Whether the cells are stored, and not only checked. */
  readonly isStored?: true
  /** @param text a cell that is not empty */
  readonly read: (text: string) => Reading
}

/**
 * Properties of a line that are no field of a diamond: they decide whether the line is a stone for sale, and whether that is
 * laboratory-grown, or name its report.
 */
const LINE_PROPERTIES = {
  availability: {
    headings: splitHeadings([
      'Availability|Available|Avail|Status|Stock status|Stone status|Diamond status|Sale status',
      'Verfügbarkeit|Verfügbar',
    ]),
    read: readAvailability,
  },
  pieces: {
    headings: splitHeadings([
      'Pieces|Piece|Pcs|Pc|No of pcs|No of pieces|Number of pieces|Quantity|Qty|Stück|Stk',
      'Parcel stones|Number of stones|No of stones|Stone count|Stones|Anzahl',
    ]),
    read: readPieces,
  },
  /** A column for the origin beside the one that is stored. */
  growthType: { headings: [], read: readGrowthType },
  treatment: {
    headings: splitHeadings(['Treatment|Treatments|Enhancement|Enhancements|Treated|Behandlung']),
    read: (text) => labGrownIf(TREATMENT.test(text)),
  },
  'certification.laboratory': {
    isStored: true,
    headings: splitHeadings(['Lab|Laboratory|Grading lab|Labor']),
    read: (text) => ({ ...labGrownIf(LABORATORY.test(text)), reportCells: { laboratory: text } }),
  },
  'certification.number': {
    isStored: true,
    headings: splitHeadings([
      'Certificate|Certificate #|Certificate number|Cert|Cert #|Cert no|Cert num|Cert number|Cert ID|Certificate ID',
      'Report|Report #|Report no|Report number|Lab report|Lab report #|Zertifikat|Zertifikatnummer|Zertifikatsnummer',
    ]),
    read: (text) => ({ ...labGrownIf(isLabGrownReportNumber(text)), reportCells: { number: text } }),
  },
} satisfies Readonly<Record<string, LinePropertyRules>>

export type LineProperty = keyof typeof LINE_PROPERTIES

export const LINE_PROPERTY_NAMES = Object.keys(LINE_PROPERTIES) as readonly LineProperty[]

export const isLineProperty = (name: string): name is LineProperty => Object.hasOwn(LINE_PROPERTIES, name)

/** Whether the cells of a column are stored, and not only checked. */
export const isStored = (content: string): boolean =>
  !isLineProperty(content) || (LINE_PROPERTIES[content] as LinePropertyRules).isStored === true

export const headingsOfProperty = (property: LineProperty): readonly string[] => LINE_PROPERTIES[property].headings

/** @param text a cell that is not empty */
export const readLineProperty = (property: LineProperty, text: string): Reading =>
  (LINE_PROPERTIES[property] as LinePropertyRules).read(text)

const wordSet = (...rows: string[]): ReadonlySet<string> => new Set(rows.flatMap((row) => row.split('|')))

/** Sources: RapNet's reference of upload fields (G, M, STPS, NA), and stock lists of wholesalers. */
const AVAILABLE = wordSet(
  'available|a|av|avail|yes|y|true|1|in stock|instock|stock|ready|active|listed|new|open|free|for sale|on hand|ok',
  'g|ga|guaranteed|guaranteed available|guaranteedavailable|guaranteed availability|stps|subject to prior sale',
  'verfügbar|lieferbar|lagernd|auf lager|ja|-|--|—|–',
)

const UNAVAILABLE = wordSet(
  'sold|sold out|s|out of stock|not available|na|n/a|n.a.|n|no|false|0|unavailable|not for sale|inactive|delisted|withdrawn',
  'on memo|memo|onmemo|out on memo|m|om|on hold|hold|onhold|h|reserved|reserve|r|res|booked|blocked|busy|locked',
  'on consignment|consignment|consigned|pending|in transit|shipped|delivered|invoiced|returned|in order|ordered',
  'verkauft|reserviert|nicht verfügbar|nicht lieferbar|in kommission|auf auswahl|nein',
)

function readAvailability(text: string): Reading {
  const key = comparisonKey(text).replaceAll('_', ' ')
  if (AVAILABLE.has(key)) return undefined
  if (UNAVAILABLE.has(key)) return { isAvailable: false }
  return { problem: `${text} does not say whether the stone is for sale, such as Available or Sold` }
}

/** `1`, `1.0` and `1 pc` are one stone. */
function readPieces(text: string): Reading {
  const key = comparisonKey(text)
  const [, digits] = /^(\d+)(?:[.,]0+)?\s*(?:pcs?|pieces?|stones?|st\.?|stück|stk\.?)?\.?$/.exec(key) ?? []
  if (digits === undefined)
    return SINGLE.has(key) ? undefined : { problem: `${text} is not a number of stones; a line must be one stone` }
  return Number(digits) === 1
    ? undefined
    : { problem: `the line has ${digits} stones, but a diamond is a single stone` }
}

const SINGLE = wordSet('single|one|-|--|—|–')

const labGrownIf = (isLabGrown: boolean): LineStatement | undefined => (isLabGrown ? { isLabGrown } : undefined)

/** HPHT alone is a growth method here, but as a treatment it also improves natural diamonds. */
function readGrowthType(text: string): Reading {
  if (GROWTH_TYPE.test(text)) return { isLabGrown: true }
  return NATURAL.test(text) ? { isLabGrown: false } : undefined
}

const NATURAL = /\bnatural\b|^nat$|\bmined\b/i

const TREATMENT = new RegExp(String.raw`${LAB_GROWN_WORDS}|\blgd\b|\bsynthetic\b`, 'i')
const GROWTH_TYPE = new RegExp(`${TREATMENT.source}|^(?:hpht|lab)$`, 'i')
/** Laboratories mark their reports on laboratory-grown diamonds: `IGI LG`, `GIA LGDR`, `IGI (Lab Grown)`. */
const LABORATORY = new RegExp(String.raw`${LAB_GROWN_WORDS}|\blg(?:dr|r)?\b`, 'i')
