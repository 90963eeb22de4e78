import type { Side } from './round.ts'
import { dot, minus, plus, times, type V } from './vectors.ts'

/** Two colours by their refractive indices; `times` is what the angle between them is multiplied by, where nearer colours stand for F and C. */
export type Colours = { readonly F: number; readonly C: number; readonly times?: number }

/**
 * The angle at the eye between light of two colours that comes in where a ray left, and goes its way backwards; in radians. 0 where one of them
 * can't get out.
 */
export function apart(out: V, way: readonly Side[], { F, C, times: by = 1 }: Colours): number {
  const [blue, red] = [F, C].map((index) => backwards(times(out, -1), way, index))
  return blue === undefined || red === undefined ? 0 : by * 2 * Math.asin(Math.hypot(...minus(blue, red)) / 2)
}

/** In through the last side, back over the others, out through the first; undefined where it can't get out. */
function backwards(light: V, way: readonly Side[], index: number): V | undefined {
  const [first, last] = [way[0], way.at(-1)]
  if (first === undefined || last === undefined) return undefined
  let ray = bent(light, times(last.normal, -1), 1 / index)
  for (const { normal } of way.slice(1, -1).reverse()) {
    if (ray === undefined) return undefined
    ray = minus(ray, times(normal, 2 * dot(ray, normal)))
  }
  return ray && bent(ray, first.normal, index)
}

/** Snell's law. @param onwards the plane's normal on the side to which the light goes */
function bent(ray: V, onwards: V, ratio: number): V | undefined {
  const cosine = dot(ray, onwards)
  const square = 1 - ratio * ratio * (1 - cosine * cosine)
  if (square <= 0) return undefined
  return plus(times(ray, ratio), times(onwards, Math.sqrt(square) - ratio * cosine))
}
