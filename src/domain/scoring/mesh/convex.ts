import type { Flats, Outside, Flat } from './flats.ts'
import { boxOf } from './mesh.ts'
import { named, NoStone, rounded } from './no-stone.ts'
import { above, fitOf, pointAt, type Fit, type Polygon } from './polygon.ts'
import { dot, length, subtract, type Vector } from '../solid/vector.ts'

/** Parts of the size by which facets may be bent and points rise above planes: what coordinates with three decimals can do. */
const BENT = 2e-4
/** Parts of the size by which rounding to three decimals moves points. A plane is as much less certain as it is narrower than it is looked at from afar. */
const MOVED = 1.2e-4

/** By how much a point may rise above a plane that facets determine which are so narrow, and so far away from it. */
const allowed = (size: number, narrow: number, far: number): number =>
  size * (BENT + (narrow > 0 ? (MOVED * far) / narrow : Infinity))

/**
 * That a closed, connected surface could bound a convex body: it has no hole through it, its facets are flat, and none of its
 * edges is a valley.
 * @param size of the whole, in millimetres
 * @throws NoStone
 */
export function checkEdges(outside: Outside, size: number): void {
  checkHole(outside)
  const fits = outside.polygons.map(({ corners }) => fitOf(outside.vertices, corners))
  for (const [index, polygon] of outside.polygons.entries()) checkFlat(outside, polygon, fits[index], BENT * size)
  const { facet, twin } = outside.sides
  for (const [side, index] of facet.entries()) {
    const fit = fits[index]
    const other = facet[twin[side] ?? side] ?? index
    // Of two neighbours the thicker one's plane is better known.
    if (fit === undefined || fit.thickness < (fits[other]?.thickness ?? 0)) continue
    const high = outside.polygons[other]?.corners.find((corner) => {
      const point = pointAt(outside.vertices, corner)
      return above(fit, point) > allowed(size, fit.thickness, length(subtract(point, fit.middle)))
    })
    if (high !== undefined) throw valley(outside, side, fit, high)
  }
}

/** Euler: points less edges and facets is 2 for what could be blown up to a ball, 0 for a ring. */
function checkHole({ polygons, sides: { from } }: Outside): void {
  const number = new Set(from).size - from.length / 2 + polygons.length
  if (number === 2) return
  throw new NoStone(`The body has a hole or touches itself: points - edges + facets must be 2, got ${number}`)
}

function checkFlat({ vertices }: Outside, { number, corners }: Polygon, fit: Fit | undefined, tolerance: number): void {
  if (fit === undefined) return
  const off = corners.find((corner) => Math.abs(above(fit, pointAt(vertices, corner))) > tolerance)
  if (off === undefined) return
  const point = pointAt(vertices, off)
  const distance = rounded(Math.abs(above(fit, point)))
  throw new NoStone(`Facet ${number} is not flat: its corner ${named(point)} lies ${distance} mm beside its plane`)
}

function valley({ vertices, polygons, sides }: Outside, side: number, fit: Fit, high: number): NoStone {
  const { facet, from, to, twin } = sides
  const [own, other] = [side, twin[side] ?? side].map((place) => polygons[facet[place] ?? 0]?.number)
  const ends = [from, to].map((corners) => named(pointAt(vertices, corners[side] ?? 0)))
  const point = pointAt(vertices, high)
  return new NoStone(
    `The body is not convex at the edge from ${ends.join(' to ')}: facet ${other} rises ${rounded(above(fit, point))} mm ` +
      `above the plane of facet ${own}, at ${named(point)}`,
  )
}

/**
 * The flats of a convex body, moved out to where none of its points is above them: rounding may have turned the narrow ones.
 * Edges alone can't tell a star, whose edges are all ridges, or a dent with many small facets.
 * @throws NoStone where a flat is not the body's outside
 */
export function supporting(outside: Outside, { flats, factor }: Flats, size: number): Flat[] {
  return flats.map((flat) => {
    const own = flat.members.flatMap((member) => outside.polygons[member]?.corners ?? [])
    const corners = own.map((corner) => pointAt(outside.vertices, corner))
    const highest = highestOf(outside.vertices, flat.normal)
    const lift = dot(pointAt(outside.vertices, highest), flat.normal) - heightOf(corners, flat.normal)
    const { least, most } = boxOf(corners)
    const narrow = flat.area / length(subtract(most, least))
    if (lift > factor * allowed(size, narrow, size)) throw covered(outside, flat, highest, lift)
    return { ...flat, offset: flat.offset + lift }
  })
}

function highestOf(vertices: readonly Vector[], normal: Vector): number {
  let best = 0
  let height = -Infinity
  for (const [index, vertex] of vertices.entries()) {
    const own = dot(vertex, normal)
    if (own > height) [best, height] = [index, own]
  }
  return best
}

const heightOf = (corners: readonly Vector[], normal: Vector): number =>
  corners.reduce((most, corner) => Math.max(most, dot(corner, normal)), -Infinity)

function covered({ vertices, polygons }: Outside, { members }: Flat, highest: number, lift: number): NoStone {
  const number = polygons[members[0] ?? 0]?.number
  return new NoStone(
    `The body is not convex: ${named(pointAt(vertices, highest))} is ${rounded(lift)} mm above facet ${number} and its plane`,
  )
}
