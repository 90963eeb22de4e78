import type { Facet, Vector } from '../solid/facet.ts'

/** A horizontal facet that cuts the pavilion where it is `culet` wide. `edge`: z coordinate of the pavilion's upper end. */
export const culetFacet = (culet: number, pavilionDepth: number, edge: number): Facet => ({
  part: 'pavilion',
  name: 'culet',
  normal: [0, 0, -1],
  offset: -edge + pavilionDepth * (1 - culet),
})

/** A point of the girdle where a main facet starts, and the horizontal direction that it faces. */
export type Station = { readonly at: Vector; readonly outward: Vector }

/** A corner of the girdle where half facets meet, and its neighbouring stations: only one at the mirror plane. */
type Gap = { readonly corner: Vector; readonly neighbours: readonly Station[] }

/** A convex outline in the girdle plane with width 1, or half of a non-convex outline. */
export type Outline = {
  readonly stations: readonly Station[]
  readonly gaps: readonly Gap[]
  readonly walls: readonly Facet[]
  /** The point below the table's centre, where the culet is. Outline, table and culet are similar figures around it. */
  readonly centre: Vector
}

/** A vertical girdle facet that touches the outline at a station. */
export function wall({ at, outward }: Station): Facet {
  return { part: 'girdle', name: 'girdle', normal: outward, offset: outward[0] * at[0] + outward[1] * at[1] }
}

/** The mirror plane x = 0 of a stone that is modelled by its half at x > 0. */
export const mirrorPlane: Facet = { part: 'fold', name: 'fold', normal: [-1, 0, 0], offset: 0 }

/** A closed outline with 8 mains. @param stationAt the station at a fraction of a turn */
export function closedOutline(stationAt: (turn: number) => Station, walls: number, firstMain: number): Outline {
  const ring = (count: number, shift: number) =>
    Array.from({ length: count }, (_, index) => stationAt((index + shift) / count))
  const stations = ring(MAINS, firstMain)
  const gaps = ring(MAINS, firstMain + 0.5).map(({ at }, index) => ({
    corner: at,
    neighbours: [stations[index], stations[(index + 1) % MAINS]].filter((station) => station !== undefined),
  }))
  return { stations, gaps, walls: ring(walls, firstMain).map(wall), centre: [0, 0, 0] }
}

const MAINS = 8

/** A station on a circle around (x, y), at an angle from the x axis in radians. */
export function onArc(x: number, y: number, radius: number, angle: number): Station {
  const outward: Vector = [Math.cos(angle), Math.sin(angle), 0]
  return { at: [x + radius * outward[0], y + radius * outward[1], 0], outward }
}

export const mirrorStation = ({ at, outward }: Station): Station => ({
  at: [-at[0], at[1], 0],
  outward: [-outward[0], outward[1], 0],
})
