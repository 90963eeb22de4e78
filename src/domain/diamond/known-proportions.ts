import { measuredProportions } from '../certification/measured-proportions.ts'
import type { CutMeasurements } from '../../optics/cut/cut.ts'
import { impossibilityOf } from '../../optics/cut/possible-cut.ts'
import { typicalTable } from '../../optics/cut/proportions.ts'
import { cutOf, isModelledShape, type Stone } from '../../optics/cut/stone.ts'
import type { LiveDiamond } from './diamond.ts'
import { describeUnused, outlineOf, statedProportions } from './stated-proportions.ts'
import { toStoneMeasurements } from './stone-measurements.ts'
import type { StoneProportions } from './stone-proportions.ts'

/** The proportions of a stone that scores use, by their source. Fact by fact, a report counts before the owner. */
export type KnownProportions = {
  /** Measured by a laboratory; undefined without a usable report. */
  readonly measured: StoneProportions | undefined
  /** Stated by the owner, also those that a report measured; undefined if none can be used. */
  readonly stated: StoneProportions | undefined
  /** Why not all of the owner's proportions are used: sentences without a full stop. */
  readonly warnings: readonly string[]
}

/** @param stone the diamond without its proportions */
export function knownProportions(
  diamond: Pick<LiveDiamond, 'fields' | 'certifications'>,
  stone: Stone,
): KnownProportions {
  const report = measuredProportions(diamond)
  const statement = statedProportions(diamond.fields)
  if (statement === undefined) return { measured: report, stated: undefined, warnings: [] }
  const { proportions, contradictions } = statement
  const measured = report && (isPossible(stone, { measured: report }) ? report : outlineOf(report))
  const alone = impossibilityOfStone(stone, { stated: proportions })
  const impossible = alone ?? (measured && impossibilityOfStone(stone, { measured, stated: proportions }))
  if (impossible === undefined) return { measured, stated: proportions, warnings: contradictions }
  const withReport = alone === undefined ? 'With the measurements of its report no' : 'No'
  const warning = describeUnused(`${withReport} stone can have these proportions, since ${impossible}`)
  const outline = outlineOf(proportions)
  const stated = isPossible(stone, { measured, stated: outline }) ? outline : undefined
  return { measured, stated, warnings: [...contradictions, warning] }
}

/** Proportions by their source. */
type Sources = Partial<Pick<KnownProportions, 'measured' | 'stated'>>

const isPossible = (stone: Stone, sources: Sources): boolean => impossibilityOfStone(stone, sources) === undefined

function impossibilityOfStone(stone: Stone, sources: Sources): string | undefined {
  const cut = cutOf({ ...stone, ...stoneMeasurementsOf(stone, sources) })
  return cut === null ? undefined : impossibilityOf(cut)
}

/** The stone's known proportions as the scoring model names them. */
export function stoneMeasurementsOf(stone: Stone, { measured, stated }: Sources): Pick<Stone, 'measured' | 'face'> {
  const { shape = 'Other', cutGrade = 'Typical' } = stone
  const fromReport = toStoneMeasurements(shape, measured)
  if (stated === undefined) return fromReport
  const typical = isModelledShape(shape) ? typicalTable(shape, cutGrade) : undefined
  const fromOwner = toStoneMeasurements(shape, stated, measured?.table ?? stated.table ?? typical)
  const together: CutMeasurements = { ...fromOwner.measured, ...fromReport.measured }
  const face = fromReport.face ?? fromOwner.face
  return { ...(Object.keys(together).length > 0 && { measured: together }), ...(face && { face }) }
}
