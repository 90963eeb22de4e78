import { add, cross, dot, length, scale, subtract, unit, type Facet, type Vector } from './facet.ts'

export type Face = { readonly facet: Facet; readonly corners: readonly Vector[]; readonly area: number }

/** A convex stone, or one half of a non-convex stone (`halves` is 2; all figures are those of the whole stone). */
export type Solid = {
  readonly facets: readonly Facet[]
  readonly faces: readonly Face[]
  readonly halves: 1 | 2
  readonly volume: number
  readonly faceUpArea: number
  readonly length: number
  readonly width: number
  readonly depth: number
}

/** Larger than any stone of width 1. */
const FAR = 20
const MIN_FACE_AREA = 1e-12

/** The intersection of the half-spaces. Facets that do not touch it are left out. All figures are exact for the given facets. */
export function solidOf(facets: readonly Facet[]): Solid {
  const faces = facets
    .map((facet) => faceOf(facet, facets))
    .filter((face) => face !== undefined)
    .filter(({ area }) => area > MIN_FACE_AREA)
  const halves = faces.some(({ facet }) => facet.part === 'fold') ? 2 : 1
  const corners = faces.flatMap((face) => face.corners)
  return {
    facets: faces.map(({ facet }) => facet),
    faces,
    halves,
    volume: (halves * faces.reduce((sum, { facet, area }) => sum + facet.offset * area, 0)) / 3,
    faceUpArea: halves * faces.reduce((sum, { facet, area }) => sum + Math.max(0, facet.normal[2]) * area, 0),
    length: extent(corners, 1),
    width: halves * extent(corners, 0),
    depth: extent(corners, 2),
  }
}

function extent(corners: readonly Vector[], axis: 0 | 1 | 2): number {
  const coordinates = corners.map((corner) => corner[axis])
  return Math.max(...coordinates) - Math.min(...coordinates)
}

function faceOf(facet: Facet, facets: readonly Facet[]): Face | undefined {
  const corners = facets.reduce<readonly Vector[]>(
    (polygon, other) => (other === facet ? polygon : clip(polygon, other)),
    square(facet),
  )
  return corners.length < 3 ? undefined : { facet, corners, area: polygonArea(corners) }
}

function square({ normal, offset }: Facet): Vector[] {
  const across = unit(Math.abs(normal[2]) < 0.9 ? cross(normal, [0, 0, 1]) : cross(normal, [1, 0, 0]))
  const along = cross(normal, across)
  const centre = scale(normal, offset)
  const corner = (a: number, b: number) => add(centre, add(scale(across, a * FAR), scale(along, b * FAR)))
  return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)]
}

function clip(polygon: readonly Vector[], { normal, offset }: Facet): readonly Vector[] {
  const [first] = polygon
  if (first === undefined || !isCut(polygon, normal, offset)) return polygon
  const kept: Vector[] = []
  let from = first
  let before = dot(normal, from) - offset
  for (let index = 1; index <= polygon.length; index++) {
    const to = polygon[index] ?? first
    const after = dot(normal, to) - offset
    const crosses = (before < 0 && after > 0) || (before > 0 && after < 0)
    if (before <= 0) kept.push(from)
    if (crosses) kept.push(add(from, scale(subtract(to, from), before / (before - after))))
    from = to
    before = after
  }
  return kept
}

/** False for most planes and faces, which are far apart. */
function isCut(polygon: readonly Vector[], normal: Vector, offset: number): boolean {
  for (const corner of polygon) if (dot(normal, corner) > offset) return true
  return false
}

function polygonArea([first, ...others]: readonly Vector[]): number {
  if (first === undefined) return 0
  const spokes = others.map((corner) => subtract(corner, first))
  return spokes.reduce((sum, spoke, index) => {
    const next = spokes[index + 1]
    return next === undefined ? sum : sum + length(cross(spoke, next)) / 2
  }, 0)
}
