import type { Laboratory } from '../../domain/certification/certification.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'

/** Formats of the trade have one report a stone: the latest with a number, or the latest. */
export function exportedReport({ certifications }: Pick<LiveDiamond, 'certifications'>): {
  readonly laboratory: Laboratory | null
  readonly number: string | null
} {
  const report = certifications.findLast(({ number }) => number !== null) ?? certifications.at(-1)
  return { laboratory: report?.laboratory ?? null, number: report?.number ?? null }
}
