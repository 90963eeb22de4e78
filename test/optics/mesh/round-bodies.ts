import type { Mesh } from '../../../src/optics/mesh/mesh.ts'
import type { Vector } from '../../../src/optics/solid/facet.ts'

/** A body of revolution: rings of `sides` points at radii and heights in millimetres, from bottom to top, with a facet at each end. */
export function bodyOfRevolution(rings: readonly (readonly [radius: number, height: number])[], sides: number): Mesh {
  const vertices = rings.flatMap(([radius, height]) =>
    Array.from({ length: sides }, (_, index): Vector => {
      const angle = (2 * Math.PI * index) / sides
      return [radius * Math.cos(angle), radius * Math.sin(angle), height]
    }),
  )
  const ring = Array.from({ length: sides }, (_, index) => index)
  const bands = rings.slice(1).flatMap((_, band) =>
    ring.map((index) => {
      const next = (index + 1) % sides
      const [below, above] = [band * sides, (band + 1) * sides]
      return [below + index, below + next, above + next, above + index]
    }),
  )
  const top = (rings.length - 1) * sides
  return { vertices, facets: [ring.toReversed(), ...bands, ring.map((index) => top + index)] }
}

/** A ball with flat poles, in `bands` bands. */
export function ball(radius: number, bands: number, sides: number): Mesh {
  const heights = Array.from({ length: bands + 1 }, (_, index) => ((index + 0.2) / (bands + 0.4)) * Math.PI)
  return bodyOfRevolution(
    heights.map((angle) => [radius * Math.sin(angle), -radius * Math.cos(angle)]),
    sides,
  )
}
