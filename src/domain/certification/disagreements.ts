import { rise } from '../../optics/cut/proportions.ts'
import { roundDecimals } from '../../optics/rounding.ts'
import type { DiamondFields } from '../diamond/fields.ts'
import { statementOf, type Statement } from '../diamond/stated-proportions.ts'
import type { ReportReading } from './certification.ts'

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
  const [measured, stated] = [measuredValues(reading), longerSideFirst(statementOf(fields))]
  return (Object.keys(COMPARISONS) as (keyof Statement)[]).flatMap((name) => {
    const { fact, unit, tolerance } = COMPARISONS[name]
    const [inReport, byOwner] = [measured[name], stated[name]]
    if (inReport === undefined || byOwner === undefined) return []
    if (Math.abs(inReport - byOwner) <= tolerance + BINARY_ROUNDING) return []
    return [`The report has ${fact} of ${inReport}${unit}, but the vendor states ${byOwner}${unit}`]
  })
}

function measuredValues({ measurements, ...reading }: ReportReading): Statement {
  const { table, depth, girdle, star, lower, crownAngle, pavilionAngle } = reading
  const crownHeight = table === null || crownAngle === null ? null : 100 * rise(1 - table / 100, crownAngle)
  const pavilionDepth = pavilionAngle === null ? null : 100 * rise(1, pavilionAngle)
  const size = measurements && { length: measurements.length, width: measurements.width, height: measurements.depth }
  const values = { table, depth, girdle, star, lower, crownAngle, pavilionAngle, crownHeight, pavilionDepth }
  const known = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null)
  return {
    ...Object.fromEntries(known.map(([name, value]) => [name, roundDecimals(value, 1)])),
    ...longerSideFirst(size ?? {}),
  }
}

/** Reports and owners name the sides in either order. */
function longerSideFirst(statement: Statement): Statement {
  const { length, width } = statement
  if (length === undefined || width === undefined || length >= width) return statement
  return { ...statement, length: width, width: length }
}
