import type { CutMeasurements, CutShape } from '../../optics/cut/cut.ts'
import { rise, slopeAngle } from '../../optics/cut/proportions.ts'
import type { Stone } from '../../optics/cut/stone.ts'
import { roundDecimals } from '../../optics/rounding.ts'
import type { StoneProportions, StoneSize } from './stone-proportions.ts'

/**
 * Converts known proportions to the scoring model's; empty without any.
 * @param tableOfCrown percent of the width; with it a crown height becomes an angle
 */
export function toStoneMeasurements(
  shape: CutShape,
  proportions: StoneProportions | undefined,
  tableOfCrown = proportions?.table,
): Pick<Stone, 'measured' | 'face'> {
  if (proportions === undefined) return {}
  return shape === 'Briolette'
    ? brioletteMeasurements(shape, proportions)
    : facetedStoneMeasurements(shape, { ...proportions, ...anglesOfHeights(proportions, tableOfCrown) })
}

/** The heights in percent that follow from the angles, as far as these and the table are known. */
export function heightsOfAngles({
  table,
  crownAngle,
  pavilionAngle,
}: StoneProportions): Pick<StoneProportions, 'crownHeight' | 'pavilionDepth'> {
  return {
    ...(table !== undefined && crownAngle !== undefined && { crownHeight: 100 * rise(1 - table / 100, crownAngle) }),
    ...(pavilionAngle !== undefined && { pavilionDepth: 100 * rise(1, pavilionAngle) }),
  }
}

/** Angles of crown and pavilion, from their heights where the angles are missing. */
function anglesOfHeights(
  { crownHeight, crownAngle, pavilionDepth, pavilionAngle }: StoneProportions,
  table: number | undefined,
): Pick<StoneProportions, 'crownAngle' | 'pavilionAngle'> {
  return {
    ...(crownAngle === undefined &&
      crownHeight !== undefined &&
      table !== undefined && { crownAngle: roundDecimals(slopeAngle(1 - table / 100, crownHeight / 100), 1) }),
    ...(pavilionAngle === undefined &&
      pavilionDepth !== undefined && { pavilionAngle: roundDecimals(slopeAngle(1, pavilionDepth / 100), 1) }),
  }
}

/**
 * A briolette has only a length and two widths; the larger width is the one seen face up. Reports list the length first, or last
 * like the depth of a round.
 */
function brioletteMeasurements(shape: CutShape, { size }: StoneProportions): Pick<Stone, 'measured' | 'face'> {
  if (size?.depth === undefined) return {}
  const [length = 0, width = 0, depth = 0] = [size.length, size.width, size.depth].sort((a, b) => b - a)
  return facetedStoneMeasurements(shape, { size: { length, width, depth } })
}

function facetedStoneMeasurements(shape: CutShape, proportions: StoneProportions): Pick<Stone, 'measured' | 'face'> {
  const measured = toCutMeasurements(shape, proportions)
  return {
    ...(Object.keys(measured).length > 0 && { measured }),
    ...(proportions.size !== undefined && { face: { length: proportions.size.length, width: proportions.size.width } }),
  }
}

/** The sides of a round differ by imperfect roundness, not by elongation, so lengthToWidth is left out: its model is circular. */
function toCutMeasurements(shape: CutShape, proportions: StoneProportions): CutMeasurements {
  const {
    table,
    depth = depthIn(shape, proportions.size),
    crownAngle,
    pavilionAngle,
    girdle,
    star,
    lower,
    size,
  } = proportions
  return {
    ...(table !== undefined && { tablePct: table }),
    ...(depth !== undefined && { depthPct: depth }),
    ...(crownAngle !== undefined && { crownAngle }),
    ...(pavilionAngle !== undefined && { pavilionAngle }),
    ...(girdle !== undefined && { girdlePct: girdle }),
    ...(star !== undefined && { starPct: star }),
    ...(lower !== undefined && { lowerPct: lower }),
    ...(size !== undefined && !isRound(shape) && { lengthToWidth: lengthToWidth(shape, size) }),
  }
}

/** Percent of the mean diameter of a round, else of the shorter side, as the total depth in reports. */
function depthIn(shape: CutShape, size: StoneSize | undefined): number | undefined {
  if (size?.depth === undefined) return undefined
  const { length, width, depth } = size
  return roundDecimals((100 * depth) / (isRound(shape) ? (length + width) / 2 : Math.min(length, width)), 1)
}

const isRound = (shape: CutShape): boolean => shape === 'Round' || shape === 'OldEuropean'

/** Some reports list the longer side first, some do not. A heart's length is always from the cleft to the point. */
const lengthToWidth = (shape: CutShape, { length, width }: StoneSize): number =>
  roundDecimals(shape === 'Heart' ? length / width : Math.max(length, width) / Math.min(length, width), 3)
