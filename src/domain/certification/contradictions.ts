import type { DiamondFields } from '../diamond/fields.ts'
import { OTHER_SHAPE_ID, rootShapeOf, shapeTitle } from '../dictionaries/shapes.ts'
import type { Certification } from './certification.ts'
import { normaliseReportNumber } from './lab-grown.ts'

/** A difference between a report's PDF and what the owner says about the report or the diamond. */
export type Contradiction = {
  readonly field: 'number' | 'laboratory' | 'carat' | 'shape' | 'origin'
  readonly given: string | number
  readonly read: string | number
}

const NONE: readonly Contradiction[] = []

/** Compares a report with its diamond's current fields. A value that is missing on either side is no contradiction. */
export function contradictionsOf(
  { number, laboratory, reading }: Certification,
  fields: DiamondFields,
): readonly Contradiction[] {
  if (reading === null) return NONE
  const contradictions: Contradiction[] = []
  if (
    number !== null &&
    reading.number !== null &&
    normaliseReportNumber(number) !== normaliseReportNumber(reading.number)
  ) {
    contradictions.push({ field: 'number', given: number, read: reading.number })
  }
  if (reading.laboratory !== null && reading.laboratory !== laboratory) {
    contradictions.push({ field: 'laboratory', given: laboratory, read: reading.laboratory })
  }
  if (reading.carat !== null && Math.abs(reading.carat - fields.carat) > CARAT_TOLERANCE) {
    contradictions.push({ field: 'carat', given: fields.carat, read: reading.carat })
  }
  const shape = typeof fields.cutShape === 'number' ? rootShapeOf(fields.cutShape) : OTHER_SHAPE_ID
  if (reading.shape !== null && shape !== OTHER_SHAPE_ID && reading.shape !== shape) {
    contradictions.push({ field: 'shape', given: shapeTitle(shape), read: shapeTitle(reading.shape) })
  }
  if (reading.isLabGrown !== null && reading.isLabGrown !== fields.isLabGrown) {
    contradictions.push({ field: 'origin', given: originOf(fields.isLabGrown), read: originOf(reading.isLabGrown) })
  }
  return contradictions
}

/** Human-readable sentences without a full stop; empty if the report agrees with its diamond. */
export const contradictionTexts = (certification: Certification, fields: DiamondFields): readonly string[] =>
  contradictionsOf(certification, fields).map(describeContradiction)

function describeContradiction({ field, given, read }: Contradiction): string {
  switch (field) {
    case 'number':
      return `The report has the number ${read}, not ${given}`
    case 'laboratory':
      return `The report is by ${read}, not by ${given}`
    case 'carat':
      return `The report is on a diamond of ${read} carats, not of ${given}`
    case 'shape':
      return `The report is on a diamond of the shape ${read}, not ${given}`
    case 'origin':
      return `The report is on a ${read} diamond, not on a ${given} one`
  }
}

const originOf = (isLabGrown: boolean) => (isLabGrown ? 'laboratory-grown' : 'natural')

/** Laboratories print two or three decimals, and owners round: half of the second decimal, plus binary rounding. */
const CARAT_TOLERANCE = 0.005_001
