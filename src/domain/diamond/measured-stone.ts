import type { MeasuredProportions, Size } from '../certification/measured.ts'
import type { Measured, Shape } from '../scoring/cut/cut.ts'
import type { Stone } from '../scoring/cut/stone.ts'

/** What a report measured, in the words of the scoring model; nothing where it measured nothing. */
export function measuredOf(shape: Shape, said: MeasuredProportions | undefined): Pick<Stone, 'measured' | 'face'> {
  if (said === undefined) return {}
  return shape === 'Briolette' ? ofDrop(shape, said) : ofStone(shape, said)
}

/**
 * A drop that is faceted all around has a length and two widths alone, of which the larger is seen; reports write the length first, or last, as a
 * round's depth.
 */
function ofDrop(shape: Shape, { size }: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  if (size === undefined) return {}
  const [length = 0, width = 0, depth = 0] = [size.length, size.width, size.depth].sort((a, b) => b - a)
  return ofStone(shape, { size: { length, width, depth } })
}

function ofStone(shape: Shape, said: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  const measured = proportionsIn(shape, said)
  return {
    ...(Object.keys(measured).length > 0 && { measured }),
    ...(said.size !== undefined && { face: { length: said.size.length, width: said.size.width } }),
  }
}

const isRound = (shape: Shape): boolean => shape === 'Round' || shape === 'OldEuropean'

/** A round's sides differ by how round it is, not by how long: its model is round. */
function proportionsIn(shape: Shape, said: MeasuredProportions): Measured {
  const { table, depth = depthIn(shape, said.size), crownAngle, pavilionAngle, girdle, star, lower, size } = said
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

/** Percent of the mean diameter of a round, of the shorter side of others: what reports call total depth. */
function depthIn(shape: Shape, size: Size | undefined): number | undefined {
  if (size === undefined) return undefined
  const { length, width, depth } = size
  return rounded((100 * depth) / (isRound(shape) ? (length + width) / 2 : Math.min(length, width)), 1)
}

/** Reports write the longer side first, or do not; a heart's length is the way from cleft to point, whichever is longer. */
const lengthToWidth = (shape: Shape, { length, width }: Size): number =>
  rounded(shape === 'Heart' ? length / width : Math.max(length, width) / Math.min(length, width), 3)

const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places
