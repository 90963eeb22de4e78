import type { Laboratory } from '../../domain/certification/certification.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'

/** Files of the trade have one report a stone: the latest with a number, or the latest. */
export const mainReport = <Report extends { readonly number?: unknown }>(
  reports: readonly Report[],
): Report | undefined => reports.findLast(({ number }) => typeof number === 'string') ?? reports.at(-1)

export function exportedReport({ certifications }: Pick<LiveDiamond, 'certifications'>): {
  readonly laboratory: Laboratory | null
  readonly number: string | null
} {
  const report = mainReport(certifications)
  return { laboratory: report?.laboratory ?? null, number: report?.number ?? null }
}
