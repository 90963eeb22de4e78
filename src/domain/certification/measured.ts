import type { Certification } from './certification.ts'

/** A stone's proportions as a laboratory measured them: percent and degrees. */
export type MeasuredProportions = {
  readonly table: number
  readonly depth: number
  readonly crownAngle: number
  readonly pavilionAngle: number
}

/** What the newest report says whose PDF told all four; undefined where none did. Scoring may use it instead of nominal ones. */
export function measuredProportions(certifications: readonly Certification[]): MeasuredProportions | undefined {
  for (const { reading } of certifications.toReversed()) {
    if (reading === null) continue
    const { table, depth, crownAngle, pavilionAngle } = reading
    if (table !== null && depth !== null && crownAngle !== null && pavilionAngle !== null) {
      return { table, depth, crownAngle, pavilionAngle }
    }
  }
  return undefined
}
