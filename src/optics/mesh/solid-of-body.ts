import { add, cross, dot, radians, scale, unit, type Facet, type StonePart, type Vector } from '../solid/facet.ts'
import { solidOf, type Solid } from '../solid/solid.ts'
import type { ConvexBody } from './convex-body.ts'
import type { PlanarRegion } from './planar-regions.ts'
import { boundingBox, InvalidMesh, pointAt, roundToMicrometres } from './mesh.ts'

/** Millimetres with two decimals: longer and shorter side as seen from above, and the depth from culet to table. */
type BodySize = { readonly length: number; readonly width: number; readonly depth: number }

/**
 * Converts a body to the tracer's solid: its largest plane, the table, up; the longer side along y; scaled to width 1; the origin in
 * the centre of the girdle. Facets in nearly the same plane become one.
 * @throws InvalidMesh if the body has no pavilion, or if its planes bound a different body
 */
export function solidOfBody(body: ConvexBody): { solid: Solid; size: BodySize } {
  const [table, ...others] = body.regions.toSorted((a, b) => b.area - a.area)
  if (table === undefined) throw new InvalidMesh('The body has no facets with an area')
  const orientation = orientBody(body.vertices, table.normal)
  const solid = solidOf([
    { ...placePlane(table, orientation), part: 'crown', name: 'table', normal: UP },
    ...nameFacets(others, orientation),
  ])
  if (!solid.facets.some(({ part }) => part === 'pavilion'))
    throw new InvalidMesh('The body has no pavilion: with its largest facet up, no other facet faces down')
  checkVolume(body.volume, solid.volume * orientation.width ** 3)
  const size = {
    length: hundredths(orientation.length),
    width: hundredths(orientation.width),
    depth: hundredths(orientation.depth),
  }
  return { solid, size }
}

/** The orientation of a body with its table up: the directions of width, length and depth, its size and its centre. Millimetres. */
type BodyOrientation = {
  readonly axes: readonly [across: Vector, along: Vector, up: Vector]
  readonly width: number
  readonly length: number
  readonly depth: number
  /** The centre of the rectangle around the outline, at the mean height of the outline (the girdle). */
  readonly centre: Vector
}

/** @param up the table's normal, a unit vector */
function orientBody(vertices: readonly Vector[], up: Vector): BodyOrientation {
  const right = unit(Math.abs(up[2]) < 0.9 ? cross(up, [0, 0, 1]) : cross(up, [1, 0, 0]))
  const back = cross(up, right)
  const outline = convexHull(toAxes(vertices, [right, back, up]))
  const { across: direction } = narrowestRectangle(outline)
  const across = add(scale(right, direction[0]), scale(back, direction[1]))
  const axes = [across, cross(up, across), up] as const
  const { min, max } = boundingBox(toAxes(vertices, axes))
  const middle = scale(add(min, max), 0.5)
  const height = outline.reduce((sum, [, , z]) => sum + z, 0) / outline.length
  return {
    axes,
    width: max[0] - min[0],
    length: max[1] - min[1],
    depth: max[2] - min[2],
    centre: add(add(scale(across, middle[0]), scale(axes[1], middle[1])), scale(up, height)),
  }
}

/** The convex outline of points as seen from above, counter-clockwise, with their z coordinates (Andrew's monotone chain). */
function convexHull(points: readonly Vector[]): Vector[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const [lower, upper] = [chain(sorted), chain(sorted.reverse())]
  return [...lower.slice(0, -1), ...upper.slice(0, -1)]
}

function chain(points: readonly Vector[]): Vector[] {
  const kept: Vector[] = []
  for (const point of points) {
    while (kept.length > 1 && crossZ(kept.at(-2) ?? point, kept.at(-1) ?? point, point) <= 0) kept.pop()
    kept.push(point)
  }
  return kept
}

const crossZ = (a: Vector, b: Vector, c: Vector): number =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

const toAxes = (vertices: readonly Vector[], [x, y, z]: BodyOrientation['axes']): Vector[] =>
  vertices.map((vertex) => [dot(vertex, x), dot(vertex, y), dot(vertex, z)])

/** A rectangle around an outline; `across` is the horizontal direction of its width. */
type Rectangle = { readonly across: Vector; readonly width: number; readonly length: number }

/**
 * The narrowest rectangle around an outline; of equally narrow ones, the longest. One of its sides lies along a side of the outline,
 * so that one pass around finds it (rotating calipers).
 */
function narrowestRectangle(outline: readonly Vector[]): Rectangle {
  const rectangles = rectanglesOf(outline)
  const width = rectangles.reduce((smallest, rectangle) => Math.min(smallest, rectangle.width), Infinity)
  return rectangles
    .filter((rectangle) => rectangle.width <= width * (1 + EQUAL))
    .reduce((best, rectangle) => (rectangle.length > best.length ? rectangle : best))
}

function rectanglesOf(outline: readonly Vector[]): Rectangle[] {
  const [widthCaliper, frontCaliper, backCaliper] = [caliper(outline), caliper(outline), caliper(outline)]
  return outline.flatMap((from, index) => {
    const to = pointAt(outline, (index + 1) % outline.length)
    const side = Math.hypot(to[0] - from[0], to[1] - from[1])
    if (side === 0) return []
    const along: Vector = [(to[0] - from[0]) / side, (to[1] - from[1]) / side, 0]
    const across: Vector = [-along[1], along[0], 0]
    const length = frontCaliper(along) + backCaliper([-along[0], -along[1], 0])
    return [{ across, width: widthCaliper(across) - dot(across, from), length }]
  })
}

/** Returns how far an outline extends in a direction. Call it with directions in counter-clockwise order, over one turn at most. */
function caliper(outline: readonly Vector[]): (direction: Vector) => number {
  let vertexIndex = -1
  return (direction) => {
    const heightAt = (index: number) => dot(pointAt(outline, index % outline.length), direction)
    if (vertexIndex < 0)
      vertexIndex = [...outline.keys()].reduce((best, index) => (heightAt(index) > heightAt(best) ? index : best), 0)
    while (heightAt(vertexIndex + 1) > heightAt(vertexIndex)) vertexIndex = (vertexIndex + 1) % outline.length
    return heightAt(vertexIndex)
  }
}

/** Relative difference up to which widths count as equal: a round outline has the same width in all directions. */
const EQUAL = 1e-4

type StonePlane = { readonly normal: Vector; readonly offset: number }

function placePlane({ normal, offset }: PlanarRegion, { axes: [x, y, z], centre, width }: BodyOrientation): StonePlane {
  return {
    normal: unit([dot(normal, x), dot(normal, y), dot(normal, z)]),
    offset: (offset - dot(normal, centre)) / width,
  }
}

const UP: Vector = [0, 0, 1]

/** The facets other than the table, numbered by decreasing area within each part. */
function nameFacets(regions: readonly PlanarRegion[], orientation: BodyOrientation): Facet[] {
  const counts: Record<StonePart, number> = { crown: 0, girdle: 0, pavilion: 0, fold: 0 }
  return regions.map((region) => {
    const plane = placePlane(region, orientation)
    const part = partOf(plane.normal)
    if (plane.normal[2] < -MIN_CULET_NORMAL_Z) return { ...plane, part, name: 'culet' }
    counts[part] += 1
    return { ...plane, part, name: `${part} ${counts[part]}` }
  })
}

function partOf([, , z]: Vector): StonePart {
  if (Math.abs(z) < MAX_GIRDLE_NORMAL_Z) return 'girdle'
  return z > 0 ? 'crown' : 'pavilion'
}

/** A facet that is less than 10° from vertical belongs to the girdle. */
const MAX_GIRDLE_NORMAL_Z = Math.sin(radians(10))

/** The lowest facet is a culet if it is within 2° of horizontal. */
const MIN_CULET_NORMAL_Z = Math.cos(radians(2))

function checkVolume(bodyVolume: number, solidVolume: number): void {
  if (Math.abs(solidVolume / bodyVolume - 1) <= MAX_VOLUME_DIFFERENCE) return
  throw new InvalidMesh(
    `The body is not convex: the volume inside its facets is ${roundToMicrometres(bodyVolume)} mm³, inside their planes ${roundToMicrometres(solidVolume)} mm³`,
  )
}

/** Maximum relative difference between the volume inside the planes and that of the body. */
const MAX_VOLUME_DIFFERENCE = 0.01

const hundredths = (value: number): number => Math.round(value * 100) / 100
