import type { Facet, Vector } from '../solid/facet.ts'

/** A culet as wide as `culet` cuts the point off where the pavilion, similar to the outline, is that wide. `edge` is its upper end. */
export const culetFacet = (culet: number, pavilionDepth: number, edge: number): Facet => ({
  part: 'pavilion',
  name: 'culet',
  normal: [0, 0, -1],
  offset: -edge + pavilionDepth * (1 - culet),
})

/** A place on the girdle where a main facet starts, and the horizontal direction it faces. */
export type Station = { readonly at: Vector; readonly outward: Vector }

/** A corner of the girdle where half facets meet, and the stations beside it: one where the mirror plane cuts the stone. */
export type Gap = { readonly corner: Vector; readonly beside: readonly Station[] }

/** A convex outline in the girdle plane, of width 1, or one half of an outline that is not convex. */
export type Outline = {
  readonly stations: readonly Station[]
  readonly gaps: readonly Gap[]
  /** Half-spaces of the girdle's wall. */
  readonly walls: readonly Facet[]
  /** The point under the table's centre: the culet is there, and outline, table and culet are similar figures around it. */
  readonly centre: Vector
}

/** A vertical facet of the girdle that touches the outline at a station. */
export function wall({ at, outward }: Station): Facet {
  return { part: 'girdle', name: 'girdle', normal: outward, offset: outward[0] * at[0] + outward[1] * at[1] }
}

/** The mirror plane x = 0 of a stone whose half at x > 0 is modelled. */
export const mirrorPlane: Facet = { part: 'fold', name: 'fold', normal: [-1, 0, 0], offset: 0 }

/** A closed outline that turns by 8 mains, from where it is at each part of its way round. */
export function closedOutline(on: (turn: number) => Station, walls: number, firstMain: number): Outline {
  const ring = (count: number, shift: number) =>
    Array.from({ length: count }, (_, index) => on((index + shift) / count))
  const stations = ring(MAINS, firstMain)
  const gaps = ring(MAINS, firstMain + 0.5).map(({ at }, index) => ({
    corner: at,
    beside: [stations[index], stations[(index + 1) % MAINS]].filter((station) => station !== undefined),
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
