import { LABORATORIES } from '../domain/certification/certification.ts'
import { findLaboratory } from '../domain/certification/report-parser.ts'
import type { StatedReport } from '../domain/certification/stated-report.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { isPlaceholder, isShortenedNumber } from './sheet-cell.ts'

/** The texts of a line's cells for the laboratory and the report number. */
export type ReportCells = { readonly laboratory?: string; readonly number?: string }

/** The report that a line states: null for none, undefined if it is unclear; then `note` says why. */
type LineReport = { readonly report?: StatedReport | null; readonly note?: string }

/**
 * Reads the report of a line. The laboratory may also be the beginning of the number: `GIA 6201947735`. A report that can't be
 * attached is noted, and does not make its line invalid.
 */
export function readReportCells({ laboratory = '', number = '' }: ReportCells): LineReport {
  const hasNumber = !isBlank(number)
  if (!hasNumber && isBlank(laboratory)) return { report: null }
  if (isShortenedNumber(number))
    return unclear('a spreadsheet program shortened the number; format the column as text and enter the numbers again')
  const known = findLaboratory(isBlank(laboratory) ? number.replace(/\d.*/, '') : laboratory)
  if (known === null)
    return unclear(
      isBlank(laboratory)
        ? 'a report number without a laboratory'
        : `${laboratory} is not one of ${LABORATORIES.join(', ')}`,
    )
  if (!hasNumber) return unclear(`${known} without a report number`)
  return REPORT_NUMBER.test(number)
    ? { report: { laboratory: known, number: number.replace(DECIMALS, '') } }
    : unclear('its number is not that of a report, such as 6201947735')
}

const unclear = (reason: string): LineReport => ({ note: `no report is attached: ${reason}` })

const isBlank = (text: string): boolean => text === '' || isPlaceholder(text) || UNGRADED.has(comparisonKey(text))

const UNGRADED: ReadonlySet<string> = new Set(
  'no|nc|non|none|no cert|non cert|non-cert|noncert|non certified|non-certified|uncertified|not certified|loose|ohne'.split(
    '|',
  ),
)

/** Not a link to the report, for example. */
const REPORT_NUMBER = /^(?=.*\d)[\p{L}\d .#/-]{1,64}$/u

/** Programs that take a report number for an amount write `6201947735.0`. */
const DECIMALS = /(?<=^\d+)\.0+$/
