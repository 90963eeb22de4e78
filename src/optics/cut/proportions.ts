import { degrees, radians } from '../solid/facet.ts'
import {
  girdles,
  usualCulet,
  type Culet,
  type Cut,
  type CutGrade,
  type GirdleThickness,
  type Grade,
  type CutMeasurements,
  type ModelledShape,
} from './cut.ts'
import made from './unpublished.json' with { type: 'json' }

/** The proportions of a cut as fractions of the stone's width (its shorter side). */
export type Proportions = {
  readonly lengthToWidth: number
  readonly table: number
  /** From the upper edge of the girdle to the table. */
  readonly crownHeight: number
  /** From the lower edge of the girdle to the point where the pavilion would end without a culet. */
  readonly pavilionDepth: number
  /** Girdle thickness where main facets meet it. */
  readonly girdle: number
  /** Star length as a fraction of the distance from the table's edge to the girdle. */
  readonly star: number
  /** Length of the lower halves as a fraction of the distance from the girdle to the culet. */
  readonly lower: number
  /** Culet width; 0 for a point. */
  readonly culet: number
}

/** A cut cannot be traced. Tracing is deterministic, so retrying does not help. */
export class UntraceableCut extends Error {
  override readonly name = 'UntraceableCut'
}

/** Proportions that no stone can have. */
export class ImpossibleProportions extends Error {
  override readonly name = 'ImpossibleProportions'
}

/**
 * The proportions of a cut: the measured ones, and nominal ones of its shape and grade for the others. Depth and both angles
 * determine the girdle, and correct a measured one within rounding; depth and one angle determine the height of the other part; depth
 * alone determines the pavilion; angles without a depth determine the depth; a girdle grade moves crown and pavilion apart.
 * @throws ImpossibleProportions
 */
export function proportionsOf({ shape, grade, culet, girdle, measured = {} }: Cut): Proportions {
  checkRanges(measured)
  const { lengthToWidth, rows } = nominal[shape]
  const [nominalCrownAngle, star, lower] = unpublishedProportions[shape][grade]
  const table = (measured.tablePct ?? rows[grade][1]) / 100
  const knownGirdle = measured.girdlePct ?? (girdle === undefined ? undefined : girdlePercent(girdle))
  const proportions = {
    lengthToWidth: measured.lengthToWidth ?? lengthToWidth,
    table,
    ...heights(rows[grade], nominalCrownAngle, table, knownGirdle, measured),
    star: (measured.starPct ?? star) / 100,
    lower: (measured.lowerPct ?? lower) / 100,
    culet: culetPercent[culet ?? usualCulet(shape)] / 100,
  }
  checkHeights(proportions)
  return proportions
}

function checkRanges(measured: CutMeasurements): void {
  for (const [name, [min, max]] of Object.entries(measurementRanges)) {
    const value = Object.entries(measured).find(([key]) => key === name)?.[1]
    if (value === undefined || (value >= min && value <= max)) continue
    throw new ImpossibleProportions(`${name} must be ${min} to ${max}, got ${value}`)
  }
}

/** Ranges in which the facet models are valid: a brilliant with shorter stars, for example, has no traceable shape. */
export const measurementRanges: Readonly<Record<keyof CutMeasurements, readonly [number, number]>> = {
  tablePct: [20, 90],
  depthPct: [30, 110],
  crownAngle: [5, 60],
  pavilionAngle: [20, 65],
  girdlePct: [0.1, 20],
  starPct: [20, 80],
  lowerPct: [30, 95],
  lengthToWidth: [0.7, 4],
}

function girdlePercent([from, to = from]: GirdleThickness): number {
  return (thickness[from] + thickness[to]) / 2 + MAIN_FACET_ALLOWANCE
}

/** Middles of DiamCalc's classes of girdle thickness, in percent (cutstudy.com, appraiser tables). */
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

/** These classes apply to the thinnest places; where main facets meet the girdle it is thicker by about 1.6 (pricescope.com). */
const MAIN_FACET_ALLOWANCE = 1.6

/** Percent of the width. The pavilion gets the depth that the crown (unpublished.json) and the girdle leave. */
type ProportionRow = readonly [depth: number, table: number, girdle: number]

/**
 * The heights of crown, girdle and pavilion.
 * @param nominalCrownAngle degrees
 * @param table fraction of the width
 * @param knownGirdle girdle thickness in percent, if measured or given as a grade
 */
function heights(
  [depth, nominalTable, nominalGirdle]: ProportionRow,
  nominalCrownAngle: number,
  table: number,
  knownGirdle: number | undefined,
  { depthPct, crownAngle, pavilionAngle, girdlePct }: CutMeasurements,
): Pick<Proportions, 'crownHeight' | 'girdle' | 'pavilionDepth'> {
  const girdle = (knownGirdle ?? nominalGirdle) / 100
  const crownHeight = rise(1 - table, crownAngle ?? nominalCrownAngle)
  if (depthPct === undefined) {
    const nominalPavilion = depth / 100 - rise(1 - nominalTable / 100, nominalCrownAngle) - nominalGirdle / 100
    return {
      crownHeight,
      girdle,
      pavilionDepth: pavilionAngle === undefined ? nominalPavilion : rise(1, pavilionAngle),
    }
  }
  const totalDepth = depthPct / 100
  if (pavilionAngle === undefined) return { crownHeight, girdle, pavilionDepth: totalDepth - crownHeight - girdle }
  const pavilionDepth = rise(1, pavilionAngle)
  if (crownAngle === undefined) return { crownHeight: totalDepth - pavilionDepth - girdle, girdle, pavilionDepth }
  const impliedGirdle = totalDepth - crownHeight - pavilionDepth
  const isRounded =
    girdlePct !== undefined &&
    impliedGirdle >= MIN_GIRDLE &&
    Math.abs(impliedGirdle - girdle) < GIRDLE_ROUNDING_TOLERANCE
  return { crownHeight, girdle: knownGirdle === undefined || isRounded ? impliedGirdle : girdle, pavilionDepth }
}

/** The height of a slope with this angle in degrees over half of a width. */
export const rise = (width: number, angle: number): number => (width / 2) * Math.tan(radians(angle))

/** The angle in degrees of a slope of this height over half of a width. */
export const slopeAngle = (width: number, height: number): number => degrees(Math.atan((2 * height) / width))

/** A stone without a girdle has no outline. */
const MIN_GIRDLE = 0.001

/**
 * By how much a measured girdle may differ from what depth and angles leave, caused by rounding in reports: in percent 0.25 for the
 * girdle itself, 0.15 for the crown angle, 0.18 for the table, 0.2 for the pavilion angle and 0.05 for the depth. The depth is the most
 * precise of them.
 */
const GIRDLE_ROUNDING_TOLERANCE = 0.0085

/** Middles of DiamCalc's classes of culet size in mm (same tables), as percent of the width of a 6.5 mm stone. */
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

function checkHeights({ crownHeight, girdle, pavilionDepth }: Proportions): void {
  if (crownHeight < 0.01)
    throw new ImpossibleProportions(`the depth leaves ${(crownHeight * 100).toFixed(1)} % for the crown`)
  if (girdle < MIN_GIRDLE)
    throw new ImpossibleProportions(`the depth leaves ${(girdle * 100).toFixed(2)} % for the girdle`)
  if (pavilionDepth < 0.1)
    throw new ImpossibleProportions(`the depth leaves ${(pavilionDepth * 100).toFixed(1)} % for the pavilion`)
}

/**
 * If a grade's published range extends the better grade's range on both sides, the deep side is used: stones of lower grades are
 * deeper, since depth keeps weight (in the bundled data set: 61.8 % for Ideal, 65.0 % for Fair).
 */
const byGrade = (
  ideal: ProportionRow,
  excellent: ProportionRow,
  veryGood: ProportionRow,
  good: ProportionRow,
  fair: ProportionRow,
  poor: ProportionRow,
): Record<Grade, ProportionRow> => ({
  Ideal: ideal,
  Excellent: excellent,
  'Very Good': veryGood,
  Good: good,
  Fair: fair,
  Poor: poor,
})

/** Emerald and Asscher: EX 58-65 / 60-65, VG 55-70 / 59-70, G 52-75 / 52-75 (shalev.co.uk, mydiamondcuts.com). */
const stepCutRows = byGrade([63, 61, 3], [64, 62.5, 3.5], [69, 69, 4.5], [73.5, 73, 5], [77.5, 75.5, 5.5], [81, 78, 6])

/** Emerald cuts with these depths have thicker girdles; otherwise the pavilion would exceed the published 47° (diamondcuttersintl.com). */
const emeraldRows = byGrade(
  [63, 61, 3],
  [64, 62.5, 3.5],
  [66.5, 66.5, 5],
  [70, 69, 6.5],
  [74, 71.5, 7.5],
  [79, 76, 8.5],
)

/** Pear: EX 58-64 / 55-62, VG 57-66 / 53-64, G 56-68 / 52-65; Marquise: EX depth 58-64, else as pear; Oval and Heart: as pear. */
const dropRows = byGrade([60, 57, 3.5], [61, 58.5, 4], [65, 63, 4.8], [67, 64.5, 5], [70, 67, 5.5], [73, 69, 6.5])

/** Not published for cushions: proportions on the market of stones called well cut, then 3 to 4 points deeper per grade. */
const cushionRows = byGrade([66, 59, 3.5], [67, 60, 4], [70, 63, 4.5], [73, 66, 5], [77, 69, 5.5], [81, 72, 6])

/** The proportions assumed for a cut of which only shape and grade are known. */
type NominalProportions = {
  readonly lengthToWidth: number
  readonly rows: Readonly<Record<CutGrade, ProportionRow>>
}

/**
 * Length to width: middles of the ranges of brilliantearth.com/popup-l-w-ratio. Typical, for stones without a grade: a table between
 * those of Excellent and Very Good, a depth near that of Very Good, and a girdle with which one carat is as wide as stones on the
 * market, within 1 % (mean of the sizes at cdn.stonealgo.com/blog/diamond-size-chart for 1 ct and, scaled by the cube root, for 2 ct,
 * which differ by up to 2 %).
 */
export const nominal: Readonly<Record<ModelledShape, NominalProportions>> = {
  // Tables are the medians by cut in the bundled data set (Excellent: its Premium; Typical: all stones), and so are the depths down to
  // Very Good; Poor continues from Fair. The data set has neither angles nor girdles: they are chosen so that the GIA's charts (2006)
  // estimate that grade and that a stone weighs what stones of that width in the data set weigh, within 1.4 %. Good and Fair reach that
  // weight with steep crowns over deep pavilions, deeper than the medians (63.4 and 65), which are too light with angles of those grades.
  Round: {
    lengthToWidth: 1,
    rows: {
      ...byGrade([61.8, 56, 3.6], [61.4, 59, 4], [62.1, 58, 4.2], [64.8, 58, 2.7], [67, 58, 4], [72.5, 58, 3]),
      Typical: [61.8, 57, 4],
    },
  },
  // EX 62-73 / 57-72, VG 60-77 / 55-75, G 57-83 / 52-85 (shalev.co.uk).
  Princess: {
    lengthToWidth: 1.025,
    rows: {
      ...byGrade([72, 68, 2.8], [72.5, 68, 3], [76, 74, 3.5], [80.5, 78, 4], [85, 81, 5], [89, 84, 6]),
      Typical: [75, 69, 5.7],
    },
  },
  CushionBrilliant: { lengthToWidth: 1.025, rows: { ...cushionRows, Typical: [70, 61.5, 5.8] } },
  CushionModified: { lengthToWidth: 1.025, rows: { ...cushionRows, Typical: [70, 61.5, 6.7] } },
  Oval: { lengthToWidth: 1.5, rows: { ...dropRows, Typical: [65, 61, 6.4] } },
  Marquise: { lengthToWidth: 2.025, rows: { ...dropRows, Typical: [64.5, 61, 4] } },
  Pear: { lengthToWidth: 1.6, rows: { ...dropRows, Typical: [65, 61, 5.2] } },
  // Depth 70-78 (shalev.co.uk), divided among the grades; the table is not published.
  Radiant: {
    lengthToWidth: 1.025,
    rows: {
      ...byGrade([70, 62, 3], [71, 64, 3.5], [73, 67, 4], [76, 70, 4.5], [79, 73, 5], [82, 76, 6]),
      Typical: [70, 65.5, 3.4],
    },
  },
  Emerald: { lengthToWidth: 1.35, rows: { ...emeraldRows, Typical: [69, 65, 8] } },
  Asscher: { lengthToWidth: 1.025, rows: { ...stepCutRows, Typical: [70.5, 65, 9] } },
  Heart: { lengthToWidth: 1, rows: { ...dropRows, Typical: [64, 61, 4.1] } },
  // Nothing is published: the rows of an emerald cut, twice as long as wide.
  Baguette: { lengthToWidth: 2, rows: { ...emeraldRows, Typical: [66, 64, 4] } },
  // The GIA's limits, table of at most 53 % and crown of at least 40° (Describing Round Unmodified Brilliant Cut Diamonds, 2013), over
  // pavilions as in a modern round. The GIA gives these cuts no grades; depths increase by grade as in a modern round.
  OldEuropean: {
    lengthToWidth: 1,
    rows: {
      ...byGrade([66, 50, 2.8], [66.8, 50.5, 3.2], [67.8, 51, 3.6], [69.5, 52, 4.2], [71.5, 53, 5], [74.5, 54, 6]),
      Typical: [67, 51, 3.4],
    },
  },
  OldMine: {
    lengthToWidth: 1.025,
    rows: {
      ...byGrade([68, 50, 3], [69, 50.5, 3.2], [70.5, 51, 3.6], [73, 52, 4.2], [76, 53, 5], [80, 54, 6]),
      Typical: [70, 51, 3.4],
    },
  },
  // Depth 32 to 48, table 50 to 60, as the trade recommends. The best grades are at the deep end: with 40 % the pavilion has 33° to 36°
  // over the sides and leaks (window). Lower grades, which keep weight, are far deeper, since a trillion is just as bright with depths of
  // 50 to 57 %. A typical carat on the market is flat, 7.74 mm wide (diamondsizechart.com), with the GIA's weight factor of .0057.
  Trillion: {
    lengthToWidth: 1,
    rows: {
      ...byGrade([48, 54, 2], [48, 56, 2.5], [62, 70, 4.2], [65, 72, 4.6], [67.5, 74, 5.2], [74, 79, 6.5]),
      Typical: [38, 61, 1.8],
    },
  },
  // A full rose is half as high as wide (antiquejewelleryinformationcenter.wordpress.com, "Dutch rose cut"). The table column is the part
  // of the width outside the crown. Neither that nor grades are published: lower grades are higher, with wider and flatter crowns.
  Rose: {
    lengthToWidth: 1,
    rows: {
      ...byGrade([50, 40, 1], [50.5, 38, 1.2], [52, 35, 1.5], [54, 31, 2], [57, 26, 2.5], [61, 20, 3]),
      Typical: [50, 33, 1.2],
    },
  },
  // Round in cross-section, so as deep as wide. The table column is the distance of the widest place from the rounded end in percent of
  // the length; the girdle column is the height of the belt around it. Nothing is published about these, lengths or grades: lower grades
  // hide weight, being deeper than wide and having higher belts.
  Briolette: {
    lengthToWidth: 1.7,
    rows: {
      ...byGrade([94, 38, 8], [96, 38, 9], [98, 38, 10], [101, 38, 12], [104, 38, 14], [108, 38, 16]),
      Typical: [100, 38, 11],
    },
  },
}

/** Table in percent of the width. */
export const typicalTable = (shape: ModelledShape, grade: CutGrade): number => nominal[shape].rows[grade][1]

/** Crown angle on the short side in degrees; star length and lower halves in percent. */
export type UnpublishedProportions = readonly [crownAngle: number, star: number, lower: number]

/** The proportions that are not published by shape and grade. Generated by `npm run scores:build`. */
export const unpublishedProportions = made as unknown as Readonly<
  Record<ModelledShape, Readonly<Record<CutGrade, UnpublishedProportions>>>
>
