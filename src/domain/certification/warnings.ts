import { roundDecimals } from '../../optics/rounding.ts'
import type { DiamondFields } from '../diamond/fields.ts'
import { statementOf, type Statement } from '../diamond/stated-proportions.ts'
import { heightsOfAngles } from '../diamond/stone-measurements.ts'
import type { Certification, ReportFact, ReportReading } from './certification.ts'
import { contradictionTexts } from './contradictions.ts'
import { proportionsOfReading } from './measured-proportions.ts'

/** Contradictions; of a report without any, also proportions that differ from the owner's. */
export function differenceTexts(certification: Certification, fields: DiamondFields): readonly string[] {
  const { reading } = certification
  const contradictions = contradictionTexts(certification, fields)
  return contradictions.length > 0 || reading === null ? contradictions : disagreementTexts(reading, fields)
}

/** Human-readable warnings about a report: contradictions, disagreements with the owner's proportions, and ambiguous values. */
export const warningsOf = (certification: Certification, fields: DiamondFields): readonly string[] => {
  const unclear = certification.reading?.unclear ?? []
  const texts = differenceTexts(certification, fields)
  if (unclear.length === 0) return texts
  return [
    ...texts,
    `The report can be read in several ways, so it was not used for: ${unclear.map((fact) => FACT_NAMES[fact]).join(', ')}`,
  ]
}

const FACT_NAMES: Readonly<Record<ReportFact, string>> = {
  number: 'number',
  carat: 'weight',
  measurements: 'measurements',
  table: 'table',
  depth: 'total depth',
  crownAngle: 'crown angle',
  pavilionAngle: 'pavilion angle',
  girdle: 'girdle',
  star: 'star length',
  lower: 'length of the lower halves',
  shape: 'shape',
}

type Comparison = {
  readonly fact: string
  readonly unit: string
  /** By how much values may differ because they are rounded, in reports and by their owner. */
  readonly tolerance: number
}

const MILLIMETRES = { unit: ' mm', tolerance: 0.05 }

const COMPARISONS: Readonly<Record<keyof Statement, Comparison>> = {
  length: { fact: 'a length', ...MILLIMETRES },
  width: { fact: 'a width', ...MILLIMETRES },
  height: { fact: 'a height', ...MILLIMETRES },
  table: { fact: 'a table', unit: ' %', tolerance: 1 },
  depth: { fact: 'a depth', unit: ' %', tolerance: 0.5 },
  girdle: { fact: 'a girdle', unit: ' %', tolerance: 1 },
  crownHeight: { fact: 'a crown height', unit: ' %', tolerance: 1 },
  pavilionDepth: { fact: 'a pavilion depth', unit: ' %', tolerance: 1 },
  star: { fact: 'a star length', unit: ' %', tolerance: 5 },
  lower: { fact: 'a length of the lower halves', unit: ' %', tolerance: 5 },
  crownAngle: { fact: 'a crown angle', unit: '°', tolerance: 0.5 },
  pavilionAngle: { fact: 'a pavilion angle', unit: '°', tolerance: 0.2 },
}

/** Differences of two decimals as binary fractions. */
const BINARY_ROUNDING = 1e-9

/**
 * Proportions in a report that differ from the owner's by more than rounding, as sentences without a full stop. Scores use those
 * of the report.
 */
export function disagreementTexts(reading: ReportReading, fields: DiamondFields): readonly string[] {
  const [measured, stated] = [statementOfReport(reading, fields.carat), longerSideFirst(statementOf(fields))]
  return (Object.keys(COMPARISONS) as (keyof Statement)[]).flatMap((name) => {
    const { fact, unit, tolerance } = COMPARISONS[name]
    const [inReport, byOwner] = [measured[name], stated[name]]
    if (inReport === undefined || byOwner === undefined) return []
    if (Math.abs(inReport - byOwner) <= tolerance + BINARY_ROUNDING) return []
    return [`The report has ${fact} of ${inReport}${unit}, but the vendor states ${byOwner}${unit}`]
  })
}

/** The proportions in a report as an owner would state them, with the heights that follow from its angles. */
function statementOfReport(reading: ReportReading, carat: number): Statement {
  const { size, ...proportions } = proportionsOfReading(reading, carat)
  const sides = size && {
    length: size.length,
    width: size.width,
    ...(size.depth !== undefined && { height: size.depth }),
  }
  const heights = Object.entries(heightsOfAngles(proportions)).map(([name, height]) => [name, roundDecimals(height, 1)])
  return longerSideFirst({ ...proportions, ...Object.fromEntries(heights), ...sides })
}

/** Reports and owners name the sides in either order. */
function longerSideFirst(statement: Statement): Statement {
  const { length, width } = statement
  if (length === undefined || width === undefined || length >= width) return statement
  return { ...statement, length: width, width: length }
}
