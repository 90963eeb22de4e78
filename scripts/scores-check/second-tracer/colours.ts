import type { Side } from './round.ts'
import { dot, minus, plus, times, type V } from './vectors.ts'

/** Refractive indices of two colours. `times`: factor for the angle between them, if closer colours stand for F and C. */
export type Colours = { readonly F: number; readonly C: number; readonly times?: number }

/**
 * The angle in radians at the eye between light of two colours that enters where a ray left and follows its path backwards. 0 if one colour
 * cannot leave.
 */
export function apart(out: V, way: readonly Side[], { F, C, times: by = 1 }: Colours): number {
  const [blue, red] = [F, C].map((index) => backwards(times(out, -1), way, index))
  return blue === undefined || red === undefined ? 0 : by * 2 * Math.asin(Math.hypot(...minus(blue, red)) / 2)
}

/** Enters through the last side, is reflected by the others and leaves through the first; undefined if it is totally reflected there. */
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

/** Snell's law; undefined for total reflection. @param onwards the plane's normal in the direction of the light */
function bent(ray: V, onwards: V, ratio: number): V | undefined {
  const cosine = dot(ray, onwards)
  const square = 1 - ratio * ratio * (1 - cosine * cosine)
  if (square <= 0) return undefined
  return plus(times(ray, ratio), times(onwards, Math.sqrt(square) - ratio * cosine))
}
