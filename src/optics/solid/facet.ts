/** A point or direction: x across the stone, y along it, z from the culet up to the table. Unit: the stone's width. */
export type Vector = readonly [x: number, y: number, z: number]

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const subtract = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
export const scale = (a: Vector, factor: number): Vector => [a[0] * factor, a[1] * factor, a[2] * factor]
export const length = (a: Vector): number => Math.sqrt(dot(a, a))
export const unit = (a: Vector): Vector => scale(a, 1 / length(a))

export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

export const radians = (degrees: number): number => (degrees * Math.PI) / 180
export const degrees = (radians: number): number => (radians * 180) / Math.PI

/** `fold` is not a facet but the mirror plane of a stone that is modelled by one half. */
export type StonePart = 'crown' | 'girdle' | 'pavilion' | 'fold'

/** A half-space; the stone is where normal · p <= offset. The normal is a unit vector pointing out of the stone. */
export type Facet = {
  readonly part: StonePart
  readonly name: string
  readonly normal: Vector
  readonly offset: number
}

/** The facet through three points, with its normal pointing away from the origin, the stone's centre. */
export function facetThrough(part: StonePart, name: string, a: Vector, b: Vector, c: Vector): Facet {
  const perpendicular = unit(cross(subtract(b, a), subtract(c, a)))
  const normal = dot(perpendicular, a) < 0 ? scale(perpendicular, -1) : perpendicular
  return { part, name, normal, offset: dot(normal, a) }
}

/** The facet through a point of the girdle plane. `outward`: the horizontal direction that it faces; `slope`: tangent of its angle. */
export function slopingFacet(part: StonePart, name: string, at: Vector, outward: Vector, slope: number): Facet {
  const normal = unit([outward[0] * slope, outward[1] * slope, part === 'pavilion' ? -1 : 1])
  return { part, name, normal, offset: dot(normal, at) }
}

/** The z coordinate of the facet's plane at (x, y). The facet must not be vertical. */
export const heightOver = ({ normal, offset }: Facet, x: number, y: number): number =>
  (offset - normal[0] * x - normal[1] * y) / normal[2]

/** The z coordinate of the stone's surface at (x, y): the lowest crown facet or the highest pavilion facet. */
export function surfaceOver(facets: readonly Facet[], x: number, y: number): number {
  const heights = facets.map((facet) => heightOver(facet, x, y))
  return facets[0]?.part === 'pavilion' ? Math.max(...heights) : Math.min(...heights)
}

/** The angle between a facet and the girdle plane in degrees: 0 for the table, otherwise the facet angle of laboratory reports. */
export const facetAngle = ({ normal }: Facet): number => degrees(Math.acos(Math.abs(normal[2])))
