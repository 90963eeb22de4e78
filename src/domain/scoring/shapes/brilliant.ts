import { facetThrough, heightOver, slopingFacet, surfaceOver, type Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { add, scale, subtract, type Vector } from '../solid/vector.ts'
import { culetFacet } from './culet.ts'
import { fold, type Outline, type Station } from './outline.ts'

/**
 * The facets of a brilliant cut over any outline: table, bezels, stars and upper halves, girdle, pavilion mains and lower
 * halves, culet. For a circle these are the 57 facets of the standard round brilliant. The table is the outline made smaller about its centre; with
 * `evenCrown` it is the outline moved inwards, so that all bezels have one angle, as long stones are cut.
 * @param flatness slope of the mains, as part of the slope with which they would reach the girdle; less than 1 leaves the
 * pavilion's upper part to the lower halves
 */
export function brilliantFacets(
  outline: Outline,
  proportions: Proportions,
  { evenCrown = false, flatness = 1 }: { readonly evenCrown?: boolean; readonly flatness?: number } = {},
): Facet[] {
  const isHalf = outline.gaps.some(({ beside }) => beside.length === 1)
  return [
    ...crownFacets(outline, proportions, evenCrown),
    ...pavilionFacets(outline, proportions, flatness),
    ...outline.walls,
    ...(isHalf ? [fold] : []),
  ]
}

function crownFacets(outline: Outline, proportions: Proportions, isEven: boolean): Facet[] {
  const { table, crownHeight, girdle } = proportions
  const bezels = outline.stations.map((station) => {
    const slope = crownHeight / ((1 - table) * (isEven ? 0.5 : reach(outline, station)))
    return slopingFacet('crown', 'bezel', raised(station.at, girdle / 2), station.outward, slope)
  })
  const top: Facet = { part: 'crown', name: 'table', normal: [0, 0, 1], offset: girdle / 2 + crownHeight }
  return [top, ...bezels, ...starsAndHalves(outline, proportions, bezels, isEven)]
}

/**
 * A star's tip lies below the table, at this part of the crown's height at most: between two bezels that look far apart, as at the head of a
 * long pear, one as short as elsewhere would lie above it, and slope the wrong way.
 */
const HIGHEST_TIP = 0.9

/** At each gap a star, which ends in a tip on the bezels, and from there two halves down to the girdle. */
function starsAndHalves(
  outline: Outline,
  proportions: Proportions,
  bezels: readonly Facet[],
  isEven: boolean,
): Facet[] {
  const { table, crownHeight, girdle, star } = proportions
  const edge = girdle / 2
  const shrunk = (at: Vector): Vector =>
    raised(add(outline.centre, scale(subtract(at, outline.centre), table)), edge + crownHeight)
  const onTable = ({ at, outward }: Station): Vector =>
    isEven ? raised(subtract(at, scale(outward, (1 - table) / 2)), edge + crownHeight) : shrunk(at)
  return outline.gaps.flatMap(({ corner, beside }) => {
    const [a, b] = beside.map(onTable)
    const middle = a === undefined || b === undefined ? shrunk(corner) : scale(add(a, b), 0.5)
    const tipAt = (part: number) =>
      meetPoint(outline, beside, bezels, add(middle, scale(subtract(corner, middle), part)))
    const [inner, outer] = [tipAt(0)[2], tipAt(1)[2]]
    const tip = tipAt(Math.max(star, (inner - edge - HIGHEST_TIP * crownHeight) / (inner - outer)))
    const stars = a === undefined || b === undefined ? [] : [facetThrough('crown', 'star', a, b, tip)]
    const upper = (at: Vector) => facetThrough('crown', 'upper', raised(at, edge), raised(corner, edge), tip)
    return [...stars, ...beside.map(({ at }) => upper(at))]
  })
}

function pavilionFacets(
  outline: Outline,
  { pavilionDepth, girdle, lower, culet }: Proportions,
  flatness: number,
): Facet[] {
  const edge = -girdle / 2
  const apex = raised(outline.centre, edge - pavilionDepth)
  const mains = outline.stations.map((station) =>
    slopingFacet('pavilion', 'main', apex, station.outward, (flatness * pavilionDepth) / reach(outline, station)),
  )
  const halves = outline.gaps.flatMap(({ corner, beside }) => {
    const near = add(outline.centre, scale(subtract(corner, outline.centre), 1 - lower))
    const tip = meetPoint(outline, beside, mains, near)
    return beside.map(({ at }) => facetThrough('pavilion', 'lower', raised(at, edge), raised(corner, edge), tip))
  })
  return [...mains, ...halves, culetFacet(culet, pavilionDepth, edge)]
}

/**
 * Where four facets meet in a cut stone: on the edge between the two mains beside a gap, as far out as `near`. A tip beside
 * that edge would lie on one main alone, and the half facets through it would cover the other. At the mirror plane there is
 * one main only, and the tip is on it.
 */
function meetPoint(outline: Outline, beside: readonly Station[], mains: readonly Facet[], near: Vector): Vector {
  const [a, b] = beside
  const [first, second] = beside.map((station) => mains[outline.stations.indexOf(station)])
  const onEdge = !a || !b || !first || !second ? near : slide(near, subtract(b.at, a.at), first, second)
  return raised(onEdge, surfaceOver(mains, onEdge[0], onEdge[1]))
}

/** The point on a line where two facets are equally high. */
function slide(from: Vector, along: Vector, first: Facet, second: Facet): Vector {
  const lead = (at: Vector) => heightOver(first, at[0], at[1]) - heightOver(second, at[0], at[1])
  const [before, after] = [lead(from), lead(add(from, along))]
  return before === after ? from : add(from, scale(along, before / (before - after)))
}

/** The distance from the centre to the tangent of the outline at a station. */
const reach = ({ centre }: Outline, { at, outward }: Station): number =>
  (at[0] - centre[0]) * outward[0] + (at[1] - centre[1]) * outward[1]

const raised = ([x, y]: Vector, z: number): Vector => [x, y, z]
