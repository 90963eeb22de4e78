import { roundDecimals } from '../../optics/rounding.ts'
import { memberNameOf, PROPORTION_FIELDS, type DiamondFields, type ProportionField } from './fields.ts'
import { heightsOfAngles } from './stone-measurements.ts'
import { isPlausibleSize, type StoneProportions, type StoneSize } from './stone-proportions.ts'

/** The proportions that the owner states, without those that contradict each other. */
type StatedProportions = {
  readonly proportions: StoneProportions
  /** Sentences without a full stop. */
  readonly contradictions: readonly string[]
}

/** The members of `proportions` that are set: millimetres, percent and degrees. */
export type Statement = {
  readonly [Field in ProportionField as Field extends `proportions.${infer Name}` ? Name : never]?: number
}

export const hasProportions = (fields: DiamondFields): boolean =>
  PROPORTION_FIELDS.some((name) => fields[name] !== null)

export function statementOf(fields: DiamondFields): Statement {
  const statement: Record<string, number> = {}
  for (const name of PROPORTION_FIELDS) {
    const value = fields[name]
    if (value !== null) statement[memberNameOf(name)] = value
  }
  return statement
}

/**
 * What the owner states about a stone's proportions. A size that does not fit the weight is not used. Of other proportions that
 * contradict each other only length and width are, since it is unknown which of them is wrong.
 * @returns undefined if the owner states none
 */
export function statedProportions(fields: DiamondFields): StatedProportions | undefined {
  const statement = statementOf(fields)
  if (Object.keys(statement).length === 0) return undefined
  const { length, width, height, ...percentsAndAngles } = statement
  const size =
    length === undefined || width === undefined
      ? undefined
      : { length, width, ...(height !== undefined && { depth: height }) }
  const isWrongSize = size !== undefined && !isPlausible(size, statement, fields.carat)
  const proportions = { ...percentsAndAngles, ...(size !== undefined && !isWrongSize && { size }) }
  const contradictions = contradictionsOf(isWrongSize ? percentsAndAngles : statement)
  return {
    proportions: contradictions.length === 0 ? proportions : outlineOf(proportions),
    contradictions: [
      ...(isWrongSize ? [`No diamond of ${fields.carat} carats measures ${sizeText(size)}: its size is not used`] : []),
      ...contradictions.map(describeUnused),
    ],
  }
}

/** Length and width alone. */
export const outlineOf = ({ size }: StoneProportions): StoneProportions =>
  size === undefined ? {} : { size: { length: size.length, width: size.width } }

/** @param contradiction a clause with a capital letter */
export const describeUnused = (contradiction: string): string =>
  `${contradiction}: of these proportions only length and width are used`

const sizeText = ({ length, width, depth }: StoneSize): string =>
  `${[length, width, ...(depth === undefined ? [] : [depth])].join(' x ')} mm`

/** A depth for sizes without one: the limits of a plausible size are wide. */
const USUAL_DEPTH_PERCENT = 65

function isPlausible(size: StoneSize, { depth: percent = USUAL_DEPTH_PERCENT }: Statement, carat: number): boolean {
  const { length, width, depth = (Math.min(length, width) * percent) / 100 } = size
  return isPlausibleSize(carat, { length, width, depth })
}

/**
 * In percent of the width. Reports round heights to 0.5 %, angles to 0.5° and tables to 1 %, and girdles are stated by their mean
 * or their greatest thickness.
 */
const TOLERANCE = 2

/** Clauses with a capital letter. */
function contradictionsOf(statement: Statement): string[] {
  const { depth, girdle, crownHeight, pavilionDepth } = statement
  const byAngles = heightsOfAngles(statement)
  const parts = [crownHeight ?? byAngles.crownHeight, girdle, pavilionDepth ?? byAngles.pavilionDepth]
  const sum = parts.reduce((total, part) => (total === undefined || part === undefined ? undefined : total + part), 0)
  const comparisons = [
    ['crown height', crownHeight, 'table and crown angle give', byAngles.crownHeight],
    ['pavilion depth', pavilionDepth, 'the pavilion angle gives', byAngles.pavilionDepth],
    ['depth', depth, 'crown, girdle and pavilion add up to', sum],
    ['depth', depth, 'height and width give', depthByHeight(statement)],
  ] as const
  return comparisons.flatMap(([name, stated, source, implied]) =>
    stated === undefined || implied === undefined || Math.abs(stated - implied) <= TOLERANCE
      ? []
      : [`The ${name} is ${stated} %, but ${source} ${roundDecimals(implied, 1)} %`],
  )
}

/** In percent of the mean diameter or of the width, whichever is closer to the stated depth. */
function depthByHeight({ length, width, height, depth = 0 }: Statement): number | undefined {
  if (length === undefined || width === undefined || height === undefined) return undefined
  const [ofDiameter, ofWidth] = [(200 * height) / (length + width), (100 * height) / Math.min(length, width)]
  return Math.abs(ofDiameter - depth) < Math.abs(ofWidth - depth) ? ofDiameter : ofWidth
}
