import type { Facet, StonePart } from '../solid/facet.ts'
import { at, DX, DY, DZ, REACH, X, Y, Z, type Ray } from './optics.ts'
import type { Solid } from '../solid/solid.ts'

/** What the tracer knows of a plane: enough to say where light goes that leaves through it. */
export const CROWN = 0
const PAVILION = 1
const GIRDLE = 2
export const FOLD = 3
const codes: Record<StonePart, number> = { crown: CROWN, pavilion: PAVILION, girdle: GIRDLE, fold: FOLD }

/** A solid as the tracer reads it: four numbers a plane (normal, offset), part by part. */
export type PlaneSet = {
  /** The facets in the order of their planes. */
  readonly order: readonly Facet[]
  readonly planes: Float64Array
  readonly parts: Int32Array
  /** The first planes of the pavilion, the girdle and the fold; the crown's start at 0. */
  readonly pavilionFrom: number
  readonly girdleFrom: number
  readonly foldFrom: number
  readonly count: number
  /** No crown facet reaches below the one, no pavilion facet above the other. */
  readonly crownBottom: number
  readonly pavilionTop: number
  /** An ellipse around (0, middle) inside the girdle, as squares of its half axes. */
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
    girdleFrom: before(GIRDLE),
    foldFrom: before(FOLD),
    count: order.length,
    crownBottom: Math.min(...heights('crown')),
    pavilionTop: Math.max(...heights('pavilion')),
    inner: innerEllipse(solid),
  }
}

/**
 * A leaning wall counts as if it stood where it is nearest to the axis at any height of the stone. Where one reaches the
 * lowest point, rays to the pavilion's planes may end below all heights: no ellipse then, and none where a wall is in the
 * middle's way. Without walls nothing can be beyond one: the ellipse holds everything.
 */
function innerEllipse(solid: Solid): PlaneSet['inner'] {
  const zs = solid.faces.flatMap(({ corners }) => corners.map(([, , z]) => z))
  const [lowest, highest] = [Math.min(...zs), Math.max(...zs)]
  const walls = solid.faces.filter(({ facet }) => facet.part === 'girdle')
  const reaches = walls.some(
    ({ facet, corners }) => facet.normal[2] < -LEANS && corners.some(([, , z]) => z < lowest + LEANS),
  )
  const ys = solid.faces.flatMap(({ corners }) => corners.map(([, y]) => y))
  const middle = (Math.min(...ys) + Math.max(...ys)) / 2
  const [across, along] = [solid.width / 2, solid.length / 2]
  const fits = walls.map(({ facet: { normal, offset } }) => {
    const lean = Math.max(normal[2] * lowest, normal[2] * highest)
    return (offset - lean - normal[1] * middle) / Math.hypot(normal[0] * across, normal[1] * along)
  })
  const fit = reaches ? 0 : 0.999 * Math.max(0, Math.min(...fits))
  return { across: (across * fit) ** 2, along: (along * fit) ** 2, middle }
}

/** An upright wall leans by no more than rounding. */
const LEANS = 1e-12

/**
 * The plane that a ray from inside meets first, other than the one it comes from; the distance goes to the ray.
 * A ray that goes up and meets the crown above the pavilion's edge and within the girdle has met nothing else before, and
 * likewise downwards: that spares most rays the search through half of the planes.
 */
export function nearestPlane(solid: PlaneSet, ray: Ray, from: number): number {
  const { planes, pavilionFrom, girdleFrom, foldFrom, count } = solid
  const rises = at(ray, DZ) > 0
  ray[REACH] = FAR
  let met = foldFrom < count ? search(planes, ray, from, foldFrom, count, -1) : -1
  met = rises
    ? search(planes, ray, from, 0, pavilionFrom, met)
    : search(planes, ray, from, pavilionFrom, girdleFrom, met)
  const reach = at(ray, REACH)
  const z = at(ray, Z) + reach * at(ray, DZ)
  const within = isWithin(solid, at(ray, X) + reach * at(ray, DX), at(ray, Y) + reach * at(ray, DY))
  if (within && (rises ? z > solid.pavilionTop : z < solid.crownBottom)) return met
  met = rises
    ? search(planes, ray, from, pavilionFrom, girdleFrom, met)
    : search(planes, ray, from, 0, pavilionFrom, met)
  return within ? met : search(planes, ray, from, girdleFrom, foldFrom, met)
}

function isWithin({ inner }: PlaneSet, x: number, y: number): boolean {
  const along = y - inner.middle
  return (x * x) / inner.across + (along * along) / inner.along < 1
}

/** Compares distances (gap over speed towards the plane) by products: no division, and hardly a branch that is taken. */
function search(planes: Float64Array, ray: Ray, from: number, first: number, end: number, met: number): number {
  const x = at(ray, X)
  const y = at(ray, Y)
  const z = at(ray, Z)
  const dx = at(ray, DX)
  const dy = at(ray, DY)
  const dz = at(ray, DZ)
  let bestGap = at(ray, REACH)
  let bestTowards = 1
  let best = met
  for (let plane = first; plane < end; plane++) {
    const base = 4 * plane
    const nx = at(planes, base)
    const ny = at(planes, base + 1)
    const nz = at(planes, base + 2)
    const towards = nx * dx + ny * dy + nz * dz
    const gap = at(planes, base + 3) - nx * x - ny * y - nz * z
    if (towards * bestGap > bestTowards * gap && towards > 0 && plane !== from) {
      bestGap = gap
      bestTowards = towards
      best = plane
    }
  }
  ray[REACH] = bestGap / bestTowards
  return best
}

/** Beyond any stone. */
const FAR = 100
