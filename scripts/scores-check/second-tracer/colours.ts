import type { HalfSpace } from './round-brilliant.ts'
import { dot, minus, plus, times, type Vector3 } from './vectors.ts'

/** Refractive indices of two colours. `angleFactor`: factor for the angle between them, if closer colours stand for F and C. */
export type Colours = { readonly F: number; readonly C: number; readonly angleFactor?: number }

/**
 * The angle in radians at the eye between light of two colours that enters where a ray left and follows its path backwards. 0 if one colour
 * cannot leave.
 */
export function angleBetweenColours(
  out: Vector3,
  path: readonly HalfSpace[],
  { F, C, angleFactor = 1 }: Colours,
): number {
  const [blue, red] = [F, C].map((index) => traceBackwards(times(out, -1), path, index))
  return blue === undefined || red === undefined ? 0 : angleFactor * 2 * Math.asin(Math.hypot(...minus(blue, red)) / 2)
}

/** Enters through the last side, is reflected by the others and leaves through the first; undefined if it is totally reflected there. */
function traceBackwards(light: Vector3, path: readonly HalfSpace[], index: number): Vector3 | undefined {
  const [first, last] = [path[0], path.at(-1)]
  if (first === undefined || last === undefined) return undefined
  let ray = refract(light, times(last.normal, -1), 1 / index)
  for (const { normal } of path.slice(1, -1).reverse()) {
    if (ray === undefined) return undefined
    ray = minus(ray, times(normal, 2 * dot(ray, normal)))
  }
  return ray && refract(ray, first.normal, index)
}

/** Snell's law; undefined for total reflection. @param onwards the plane's normal in the direction of the light */
function refract(ray: Vector3, onwards: Vector3, ratio: number): Vector3 | undefined {
  const cosine = dot(ray, onwards)
  const square = 1 - ratio * ratio * (1 - cosine * cosine)
  if (square <= 0) return undefined
  return plus(times(ray, ratio), times(onwards, Math.sqrt(square) - ratio * cosine))
}
