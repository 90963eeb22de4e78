import type { DiamondFields } from '../diamond/fields.ts'
import type { Certification } from './certification.ts'
import { contradictionsOf } from './contradictions.ts'

/** A stone's proportions as a laboratory measured them: percent and degrees. */
export type MeasuredProportions = {
  readonly table: number
  readonly depth: number
  readonly crownAngle: number
  readonly pavilionAngle: number
}

type Stone = { readonly certifications: readonly Certification[]; readonly fields: DiamondFields }

/**
 * What the newest report says whose PDF told all four; undefined where none did. Scoring may use it instead of nominal
 * ones. A report that contradicts its stone was measured on another one, as far as anybody can tell.
 */
export function measuredProportions({ certifications, fields }: Stone): MeasuredProportions | undefined {
  for (const certification of certifications.toReversed()) {
    const { reading } = certification
    if (reading === null || contradictionsOf(certification, fields).length > 0) continue
    const { table, depth, crownAngle, pavilionAngle } = reading
    if (table !== null && depth !== null && crownAngle !== null && pavilionAngle !== null) {
      return { table, depth, crownAngle, pavilionAngle }
    }
  }
  return undefined
}
