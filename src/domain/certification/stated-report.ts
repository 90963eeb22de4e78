import type { DiamondFieldChanges, NewDiamond } from '../diamond/fields.ts'
import type { Certification, Laboratory, ReportFile } from './certification.ts'
import { normaliseReportNumber } from './lab-grown.ts'

/** A report as a file of the trade states it, with its PDF if that came with the file. */
export type StatedReport = { readonly laboratory: Laboratory; readonly number: string; readonly file?: ReportFile }

/** A diamond to create, with its reports. */
export type NewStone = { readonly fields: NewDiamond; readonly reports: readonly NewReport[] }

type NewReport = Pick<Certification, 'laboratory' | 'number'> & { readonly file?: ReportFile | null }

/** `report`: null if the diamond has none, undefined to leave its certifications as they are. */
export type StoneUpdate = {
  readonly id: number
  readonly change: DiamondFieldChanges
  readonly report: StatedReport | null | undefined
}

/**
 * How the certifications change if a file states the diamond's report, or with null that it has none. The same report in another
 * spelling changes nothing, unless it comes with the PDF that the diamond lacks; another one replaces those without a PDF. One
 * with a PDF stays, since its removal could not be undone.
 */
export function replacementOf(
  certifications: readonly Certification[],
  report: StatedReport | null,
): { readonly removed: readonly Certification[]; readonly isAttached: boolean } {
  const isKnown =
    report !== null &&
    certifications.some((one) => isSameReport(one, report) && (one.file !== null || report.file === undefined))
  if (isKnown) return { removed: [], isAttached: false }
  return { removed: certifications.filter(({ file }) => file === null), isAttached: report !== null }
}

const isSameReport = ({ laboratory, number }: Certification, report: StatedReport): boolean =>
  laboratory === report.laboratory &&
  number !== null &&
  normaliseReportNumber(number) === normaliseReportNumber(report.number)
