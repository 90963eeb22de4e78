import type { DiamondFieldChanges, NewDiamond } from '../diamond/fields.ts'
import type { Certification, Laboratory } from './certification.ts'
import { normaliseReportNumber } from './lab-grown.ts'

/** A report as a file of the trade states it, without its PDF. */
export type StatedReport = { readonly laboratory: Laboratory; readonly number: string }

/** A diamond to create, with its reports without a file. */
export type NewStone = {
  readonly fields: NewDiamond
  readonly reports: readonly Pick<Certification, 'laboratory' | 'number'>[]
}

/** `report`: null if the diamond has none, undefined to leave its certifications as they are. */
export type StoneUpdate = {
  readonly id: number
  readonly change: DiamondFieldChanges
  readonly report: StatedReport | null | undefined
}

/**
 * How the certifications change if a file states the diamond's report, or with null that it has none. The same report in another
 * spelling changes nothing; another one replaces those without a PDF. One with a PDF stays, since its removal could not be undone.
 */
export function replacementOf(
  certifications: readonly Certification[],
  report: StatedReport | null,
): { readonly removed: readonly Certification[]; readonly isAttached: boolean } {
  if (report !== null && certifications.some((one) => isSameReport(one, report)))
    return { removed: [], isAttached: false }
  return { removed: certifications.filter(({ file }) => file === null), isAttached: report !== null }
}

const isSameReport = ({ laboratory, number }: Certification, report: StatedReport): boolean =>
  laboratory === report.laboratory &&
  number !== null &&
  normaliseReportNumber(number) === normaliseReportNumber(report.number)
