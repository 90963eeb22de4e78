import type { Facet, StonePart } from '../solid/facet.ts'
import type { Solid } from '../solid/solid.ts'

/** Codes of the parts of a stone, in the order of planes. */
export const CROWN = 0
const PAVILION = 1
export const FOLD = 2
const GIRDLE = 3
const codes: Record<StonePart, number> = { crown: CROWN, pavilion: PAVILION, girdle: GIRDLE, fold: FOLD }

/** A solid in the tracer's format: four numbers per plane (normal, offset), ordered by part. */
export type PlaneSet = {
  readonly order: readonly Facet[]
  readonly planes: Float64Array
  readonly parts: Int32Array
  /** Index of the first plane of the pavilion, the fold and the girdle. The crown starts at 0. */
  readonly pavilionFrom: number
  readonly foldFrom: number
  readonly girdleFrom: number
  readonly count: number
  /** The lowest point of crown facets and the highest point of pavilion facets. */
  readonly crownBottom: number
  readonly pavilionTop: number
  /** An ellipse around (0, middle) that lies inside the girdle: squares of its semi-axes. */
  readonly inner: { readonly across: number; readonly along: number; readonly middle: number }
}

export function toPlaneSet(solid: Solid): PlaneSet {
  const order = [...solid.facets].sort((a, b) => codes[a.part] - codes[b.part])
  const before = (code: number) => order.filter(({ part }) => codes[part] < code).length
  const heights = (part: StonePart) =>
    solid.faces.flatMap(({ facet, corners }) => (facet.part === part ? corners.map(([, , z]) => z) : []))
  return {
    order,
    planes: Float64Array.from(order.flatMap(({ normal, offset }) => [...normal, offset])),
    parts: Int32Array.from(order.map(({ part }) => codes[part])),
    pavilionFrom: before(PAVILION),
    foldFrom: before(FOLD),
    girdleFrom: before(GIRDLE),
    count: order.length,
    crownBottom: Math.min(...heights('crown')),
    pavilionTop: Math.max(...heights('pavilion')),
    inner: innerEllipse(solid),
  }
}

/**
 * A tilted girdle facet is treated as if it were, at every height of the stone, as close to the axis as at its closest height. If one
 * extends to the lowest point, the ellipse is empty, because rays to pavilion planes may end below that point; it is also empty if a
 * girdle facet passes through the middle. Without girdle facets the ellipse is unlimited.
 */
function innerEllipse(solid: Solid): PlaneSet['inner'] {
  const zs = solid.faces.flatMap(({ corners }) => corners.map(([, , z]) => z))
  const [lowest, highest] = [Math.min(...zs), Math.max(...zs)]
  const walls = solid.faces.filter(({ facet }) => facet.part === 'girdle')
  const reachesBottom = walls.some(
    ({ facet, corners }) =>
      facet.normal[2] < -VERTICAL_TOLERANCE && corners.some(([, , z]) => z < lowest + VERTICAL_TOLERANCE),
  )
  const ys = solid.faces.flatMap(({ corners }) => corners.map(([, y]) => y))
  const middle = (Math.min(...ys) + Math.max(...ys)) / 2
  const [across, along] = [solid.width / 2, solid.length / 2]
  const fits = walls.map(({ facet: { normal, offset } }) => {
    const tiltOffset = Math.max(normal[2] * lowest, normal[2] * highest)
    return (offset - tiltOffset - normal[1] * middle) / Math.hypot(normal[0] * across, normal[1] * along)
  })
  const fit = reachesBottom ? 0 : 0.999 * Math.max(0, Math.min(...fits))
  return { across: (across * fit) ** 2, along: (along * fit) ** 2, middle }
}

/** Rounding tolerance for a vertical girdle facet. */
const VERTICAL_TOLERANCE = 1e-12
