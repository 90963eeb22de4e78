import { modelledShapes, type Cut, type Measured, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { possibleCut } from '../../src/domain/scoring/cut/possible.ts'
import { proportionsOf } from '../../src/domain/scoring/cut/proportions.ts'
import { traceCut } from '../../src/domain/scoring/cut/trace-cut.ts'
import { errorsOf } from '../../src/domain/scoring/errors.ts'
import { says, type Check } from './check.ts'
import { plain, quantile } from './designs.ts'
import { relative } from './relative.ts'

const STONES = 24

/**
 * By how much stones of one grade differ, half of the ranges of Excellent: rounds depth 60 to 63 and table 53 to 58, pears 58 to 64 and 55 to 62, princesses
 * 62 to 73 and 57 to 72 (shalev.co.uk, mydiamondcuts.com); angles, girdles, stars and lower halves as reports have them.
 */
const halfRanges = (shape: ModelledShape): Required<Measured> => ({
  depthPct: shape === 'Round' ? 1.5 : shape === 'Princess' ? 5.5 : 3,
  tablePct: shape === 'Round' ? 2.5 : shape === 'Princess' ? 7.5 : 3.5,
  crownAngle: 2,
  pavilionAngle: 1,
  girdlePct: 1,
  starPct: 7.5,
  lowerPct: 7.5,
  lengthToWidth: shape === 'Round' ? 0 : 0.08,
})

/** What a report's figures are rounded to, halved. */
const ROUNDED: Partial<Measured> = { depthPct: 0.05, tablePct: 0.5, crownAngle: 0.25, pavilionAngle: 0.1 }

/** Scores of stones that are all that is said of one: half of them must lie within its d. */
export function plausibleChecks(): Check[] {
  return modelledShapes.flatMap((shape) => [
    ...within(
      shape,
      'typical',
      ['depthPct', 'tablePct', 'crownAngle', 'girdlePct', 'starPct', 'lowerPct', 'lengthToWidth'],
      {},
    ),
    ...within(shape, 'measured', ['starPct', 'lowerPct', 'girdlePct'], ROUNDED),
  ])
}

function within(
  shape: ModelledShape,
  basis: 'typical' | 'measured',
  unknown: readonly (keyof Measured)[],
  rounded: Partial<Measured>,
): Check[] {
  const cut = plain(shape, 'Excellent')
  const own = relative(traceCut({ ...cut, ...(basis === 'measured' && { measured: measuredOf(cut) }) }))
  const ranges = { ...Object.fromEntries(unknown.map((name) => [name, halfRanges(shape)[name]])), ...rounded }
  const others = Array.from({ length: STONES }, (_, index) =>
    relative(traceCut(possibleCut({ ...cut, measured: varied(cut, ranges, index) }))),
  )
  const d = errorsOf(basis === 'measured' ? { measured: measuredOf(cut) } : {})
  return (['brilliance', 'fire', 'integral'] as const).map((name) => {
    const off = others.map((scores) => Math.abs(scores[name] - own[name]))
    const [half, most] = [quantile(off, 0.5), quantile(off, 0.9)]
    return says(
      `${shape}, ${basis}: ${name}, half within`,
      String(d[name]),
      `${half.toFixed(3)} (90 %: ${most.toFixed(3)})`,
      half <= d[name] + 1e-9,
    )
  })
}

/** A cut's own proportions, as a report has them. */
function measuredOf(cut: Cut): Measured {
  const { table, crownHeight, pavilionDepth, girdle, star, lower, lengthToWidth } = proportionsOf(cut)
  const angle = (rise: number, run: number) => (Math.atan(rise / run) * 180) / Math.PI
  return {
    tablePct: 100 * table,
    depthPct: 100 * (crownHeight + girdle + pavilionDepth),
    crownAngle: angle(crownHeight, (1 - table) / 2),
    pavilionAngle: angle(pavilionDepth, 0.5),
    girdlePct: 100 * girdle,
    starPct: 100 * star,
    lowerPct: 100 * lower,
    lengthToWidth,
  }
}

/** @param index of a sequence without gaps in as many dimensions as there are measures */
function varied(cut: Cut, ranges: Partial<Measured>, index: number): Measured {
  const own = measuredOf(cut)
  // Where the depth moves and no pavilion angle is given, the pavilion takes what is left.
  const { pavilionAngle, ...others } = own
  const start: Measured =
    ranges.pavilionAngle === undefined && ranges.depthPct !== undefined
      ? others
      : { ...others, ...(pavilionAngle !== undefined && { pavilionAngle }) }
  const values = Object.entries(start).map(([name, value], dimension) => {
    const range = Object.entries(ranges).find(([key]) => key === name)?.[1] ?? 0
    return [name, value + range * (2 * (((index + 1) * ROOT ** -(dimension + 1)) % 1) - 1)] as const
  })
  return Object.fromEntries(values)
}

/** Powers of the root of x^9 = x + 1, the additive recurrence of eight dimensions with the fewest gaps. */
const ROOT = 1.0850702454914507
