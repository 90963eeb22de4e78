import { pointAt } from './polygon.ts'
import { dot, type Vector } from '../solid/vector.ts'

/** The corners of the convex outline of points as seen from above, counter-clockwise; their heights are kept (Andrew's monotone chain). */
export function outlineOf(points: readonly Vector[]): Vector[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const [lower, upper] = [chain(sorted), chain(sorted.reverse())]
  return [...lower.slice(0, -1), ...upper.slice(0, -1)]
}

function chain(points: readonly Vector[]): Vector[] {
  const kept: Vector[] = []
  for (const point of points) {
    while (kept.length > 1 && turn(kept.at(-2) ?? point, kept.at(-1) ?? point, point) <= 0) kept.pop()
    kept.push(point)
  }
  return kept
}

const turn = (a: Vector, b: Vector, c: Vector): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

/** A rectangle around an outline: the horizontal direction that its width is along, and both measures. */
export type Rectangle = { readonly across: Vector; readonly width: number; readonly length: number }

/** Widths that differ by less are equal: a round part of an outline is as wide whichever way it is measured. */
const EQUAL = 1e-4

/**
 * The narrowest rectangle around an outline; of equally narrow ones, the longest. One of its sides lies along one of the
 * outline's, so that going around once finds it (rotating calipers).
 */
export function narrowestRectangle(outline: readonly Vector[]): Rectangle {
  const rectangles = rectanglesOf(outline)
  const width = rectangles.reduce((least, rectangle) => Math.min(least, rectangle.width), Infinity)
  return rectangles
    .filter((rectangle) => rectangle.width <= width * (1 + EQUAL))
    .reduce((best, rectangle) => (rectangle.length > best.length ? rectangle : best))
}

function rectanglesOf(outline: readonly Vector[]): Rectangle[] {
  const [opposite, ahead, behind] = [caliper(outline), caliper(outline), caliper(outline)]
  return outline.flatMap((from, index) => {
    const to = pointAt(outline, (index + 1) % outline.length)
    const side = Math.hypot(to[0] - from[0], to[1] - from[1])
    if (side === 0) return []
    const along: Vector = [(to[0] - from[0]) / side, (to[1] - from[1]) / side, 0]
    const across: Vector = [-along[1], along[0], 0]
    const length = ahead(along) + behind([-along[0], -along[1], 0])
    return [{ across, width: opposite(across) - dot(across, from), length }]
  })
}

/** How far an outline reaches in a direction; asked in turn for directions that go around counter-clockwise, once. */
function caliper(outline: readonly Vector[]): (direction: Vector) => number {
  let place = -1
  return (direction) => {
    const reach = (index: number) => dot(pointAt(outline, index % outline.length), direction)
    if (place < 0) place = [...outline.keys()].reduce((best, index) => (reach(index) > reach(best) ? index : best), 0)
    while (reach(place + 1) > reach(place)) place = (place + 1) % outline.length
    return reach(place)
  }
}
