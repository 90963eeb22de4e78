import {
  girdles,
  usualCulet,
  type Culet,
  type Cut,
  type CutGrade,
  type Girdle,
  type Measured,
  type ModelledShape,
} from './cut.ts'
import { nominal, type Row } from './nominal.ts'
import made from './unpublished.json' with { type: 'json' }
import { radians } from '../solid/vector.ts'

/** A cut's measures, all lengths as parts of the stone's width (its shorter side). */
export type Proportions = {
  readonly lengthToWidth: number
  readonly table: number
  /** From the girdle's upper edge to the table. */
  readonly crownHeight: number
  /** From the girdle's lower edge to the point in which the pavilion would end without a culet. */
  readonly pavilionDepth: number
  /** Thickness of the girdle where the main facets meet it. */
  readonly girdle: number
  /** Length of the star facets, as part of the way from the table's edge to the girdle. */
  readonly star: number
  /** Length of the lower girdle facets, as part of the way from the girdle to the culet. */
  readonly lower: number
  /** Width of the culet; 0 for a point. */
  readonly culet: number
}

/** The crown's angle on the short side in degrees, stars and lower halves in percent of their whole way. */
export type Unpublished = readonly [crownAngle: number, star: number, lower: number]

/** Of each shape and grade, what nobody publishes of the stone that stands for it; made by `npm run scores:build`. */
export const unpublished = made as unknown as Readonly<Record<ModelledShape, Readonly<Record<CutGrade, Unpublished>>>>

/** Tracing a cut failed: it would fail again, since it is computed from nothing else. */
export class UntraceableCut extends Error {
  override readonly name = 'UntraceableCut'
}

/** Measures of which no stone can be made. */
export class ImpossibleProportions extends Error {
  override readonly name = 'ImpossibleProportions'
}

/**
 * A cut's proportions: what was measured, and the nominal ones of its shape and grade for the rest. Depth and two angles say the girdle,
 * and correct one that was measured as far as rounding goes; depth and one angle say the other part's height; a depth alone moves the
 * pavilion; angles without a depth say the depth; a girdle in words moves table and culet apart.
 * Errors: ImpossibleProportions.
 */
export function proportionsOf({ shape, grade, culet, girdle, measured = {} }: Cut): Proportions {
  checkRanges(measured)
  const { lengthToWidth, rows } = nominal[shape]
  const [crown, star, lower] = unpublished[shape][grade]
  const table = (measured.tablePct ?? rows[grade][1]) / 100
  const known = measured.girdlePct ?? (girdle === undefined ? undefined : girdlePercent(girdle))
  const proportions = {
    lengthToWidth: measured.lengthToWidth ?? lengthToWidth,
    table,
    ...heights(rows[grade], crown, table, known, measured),
    star: (measured.starPct ?? star) / 100,
    lower: (measured.lowerPct ?? lower) / 100,
    culet: culetPercent[culet ?? usualCulet(shape)] / 100,
  }
  checkWhole(proportions)
  return proportions
}

/**
 * The heights of crown, girdle and pavilion.
 * @param crown the nominal crown's angle
 * @param table as part of the width
 * @param known the girdle's thickness in percent, where it is measured or said in words
 */
function heights(
  [depth, nominalTable, nominalGirdle]: Row,
  crown: number,
  table: number,
  known: number | undefined,
  { depthPct, crownAngle, pavilionAngle, girdlePct }: Measured,
): Pick<Proportions, 'crownHeight' | 'girdle' | 'pavilionDepth'> {
  const girdle = (known ?? nominalGirdle) / 100
  const crownHeight = rise(1 - table, crownAngle ?? crown)
  if (depthPct === undefined) {
    const nominalPavilion = depth / 100 - rise(1 - nominalTable / 100, crown) - nominalGirdle / 100
    return {
      crownHeight,
      girdle,
      pavilionDepth: pavilionAngle === undefined ? nominalPavilion : rise(1, pavilionAngle),
    }
  }
  const whole = depthPct / 100
  if (pavilionAngle === undefined) return { crownHeight, girdle, pavilionDepth: whole - crownHeight - girdle }
  const pavilionDepth = rise(1, pavilionAngle)
  if (crownAngle === undefined) return { crownHeight: whole - pavilionDepth - girdle, girdle, pavilionDepth }
  const left = whole - crownHeight - pavilionDepth
  const isRounded = girdlePct !== undefined && left >= THINNEST && Math.abs(left - girdle) < AS_ROUNDED
  return { crownHeight, girdle: known === undefined || isRounded ? left : girdle, pavilionDepth }
}

/**
 * By how much a girdle may differ from what depth and angles leave because of what reports round to alone: 0.25 for itself, 0.15 for the
 * crown's angle and 0.18 for the table, 0.2 for the pavilion's angle, 0.05 for the depth, in percent. The depth is the finest of them.
 */
const AS_ROUNDED = 0.0085
/** A stone without a girdle has no outline. */
const THINNEST = 0.001

/** How high a slope of that angle rises over half of a width. */
const rise = (width: number, angle: number): number => (width / 2) * Math.tan(radians(angle))

/** Middles of the classes by which DiamCalc translates girdles to words, in percent (cutstudy.com, appraiser tables). */
const thickness: Readonly<Record<(typeof girdles)[number], number>> = {
  'Extremely Thin': 0.3,
  'Very Thin': 0.7,
  Thin: 1.25,
  Medium: 2.35,
  'Slightly Thick': 3.75,
  Thick: 5,
  'Very Thick': 6.25,
  'Extremely Thick': 8,
}

/** Those classes are read at the thinnest places; where mains meet the girdle it is thicker by about 1.6 (pricescope.com). */
const AT_MAINS = 1.6

function girdlePercent([from, to = from]: Girdle): number {
  return (thickness[from] + thickness[to]) / 2 + AT_MAINS
}

/** Middles of the classes by which DiamCalc translates culets to words, in mm (same tables), of a stone 6.5 mm wide. */
const culetPercent: Readonly<Record<Culet, number>> = {
  None: 0,
  'Very Small': 0.23,
  Small: 0.38,
  Medium: 0.92,
  'Slightly Large': 2.4,
  Large: 4.8,
  'Very Large': 9.2,
  'Extremely Large': 15,
}

/** Where the facet models hold: a brilliant with shorter stars has no shape that light could be traced in. */
const ranges: Readonly<Record<keyof Measured, readonly [number, number]>> = {
  tablePct: [20, 90],
  depthPct: [30, 110],
  crownAngle: [5, 60],
  pavilionAngle: [20, 65],
  girdlePct: [0.1, 20],
  starPct: [20, 80],
  lowerPct: [30, 95],
  lengthToWidth: [0.7, 4],
}

function checkRanges(measured: Measured): void {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = Object.entries(measured).find(([key]) => key === name)?.[1]
    if (value === undefined || (value >= least && value <= most)) continue
    throw new ImpossibleProportions(`${name} must be ${least} to ${most}, got ${value}`)
  }
}

function checkWhole({ crownHeight, girdle, pavilionDepth }: Proportions): void {
  if (crownHeight < 0.01)
    throw new ImpossibleProportions(`depthPct leaves ${(crownHeight * 100).toFixed(1)} % for the crown`)
  if (girdle < THINNEST)
    throw new ImpossibleProportions(`depthPct leaves ${(girdle * 100).toFixed(2)} % for the girdle`)
  if (pavilionDepth < 0.1)
    throw new ImpossibleProportions(`depthPct leaves ${(pavilionDepth * 100).toFixed(1)} % for the pavilion`)
}
