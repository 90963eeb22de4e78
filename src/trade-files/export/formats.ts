import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { exportedReport } from './exported-report.ts'
import { CSV_HEADER, csvRow, jsonLine } from './own-formats.ts'
import { IDEX_TABLE, RAPNET_TABLE } from './portal-formats.ts'

/** What a file lacks for some of its stones. The texts complete `12 stones are ...`. */
type StoneRemark = {
  readonly text: string
  readonly appliesTo: (stone: LiveDiamond) => boolean
  /** Such stones are not in the file. */
  readonly isLeftOut?: true
}

export type ExportFormat = {
  /** For people. */
  readonly title: string
  /** What the file is for. */
  readonly about: string
  readonly extension: 'csv' | 'jsonl'
  readonly mediaType: string
  readonly header: string
  /** A stone's line, with its end. */
  readonly row: (stone: LiveDiamond, links: LinkBuilder) => string
  readonly remarks: readonly StoneRemark[]
  /** Its file has links to report pages, and may lack what the portal requires. */
  readonly isPortal: boolean
  /** What the file lacks for all stones. */
  readonly lacks?: string
}

const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8'
const JSON_LINES_MEDIA_TYPE = 'application/x-ndjson'

const WITHOUT_PRICE: StoneRemark = { text: 'without a price', appliesTo: ({ fields }) => !fields.price }

/** Fancy colours are graded by their hue. */
const isGradedFancy = ({ fields }: LiveDiamond) => fields.colorHue !== null && fields.fancyGrade !== null

const WITHOUT_COLOR: StoneRemark = {
  text: 'without a colour, or a fancy colour with its intensity',
  appliesTo: (stone) => stone.fields.color === null && !isGradedFancy(stone),
}

/** RapNet requires it of white diamonds only. */
const WITHOUT_CLARITY: StoneRemark = {
  text: 'without a clarity',
  appliesTo: (stone) => stone.fields.clarity === null && !isGradedFancy(stone),
}

const hasReport = (stone: LiveDiamond) => exportedReport(stone).number !== null

const isLabGrown = ({ fields }: LiveDiamond) => fields.isLabGrown

/**
 * The formats of exports. Sources of what RapNet requires: help.rapnet.com, "Diamond Upload Rules" (no laboratory-grown diamonds;
 * graded only with laboratory and report number; the location) and "RapNet Diamond Fields & Values" (clarity of white
 * diamonds), "Pricing issues when uploading diamonds" (a price). IDEX publishes no such list; its price report values a
 * diamond by cut, carat, colour and clarity.
 */
export const EXPORT_FORMATS = {
  csv: {
    title: 'CSV',
    about: 'all fields by their names in the API, for a spreadsheet or another account',
    extension: 'csv',
    mediaType: CSV_MEDIA_TYPE,
    header: CSV_HEADER,
    row: csvRow,
    isPortal: false,
    remarks: [],
  },
  jsonl: {
    title: 'JSON lines',
    about: 'one stone a line as the API writes it, for programs',
    extension: 'jsonl',
    mediaType: JSON_LINES_MEDIA_TYPE,
    header: '',
    row: jsonLine,
    isPortal: false,
    remarks: [],
  },
  rapnet: {
    title: 'RapNet',
    about: 'the columns of an upload to RapNet',
    extension: 'csv',
    mediaType: CSV_MEDIA_TYPE,
    ...RAPNET_TABLE,
    isPortal: true,
    remarks: [
      {
        text: 'laboratory-grown, which RapNet does not list: they are left out',
        appliesTo: isLabGrown,
        isLeftOut: true,
      },
      WITHOUT_PRICE,
      WITHOUT_COLOR,
      WITHOUT_CLARITY,
      {
        text: 'without a report number: RapNet lists them as not graded',
        appliesTo: (stone) => !hasReport(stone),
      },
    ],
    lacks:
      'the location (Country, State, City) and the availability, which are not stored here; prices must be in US dollars',
  },
  idex: {
    title: 'IDEX',
    about: "the columns of IDEX's files",
    extension: 'csv',
    mediaType: CSV_MEDIA_TYPE,
    ...IDEX_TABLE,
    isPortal: true,
    remarks: [
      {
        text: 'laboratory-grown: IDEX lists them separately, so export them apart from the others',
        appliesTo: isLabGrown,
      },
      WITHOUT_PRICE,
      WITHOUT_COLOR,
      WITHOUT_CLARITY,
    ],
    lacks: 'the country and the availability, which are not stored here; prices must be in US dollars',
  },
} satisfies Readonly<Record<string, ExportFormat>>

export type ExportFormatName = keyof typeof EXPORT_FORMATS

export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as readonly ExportFormatName[]
