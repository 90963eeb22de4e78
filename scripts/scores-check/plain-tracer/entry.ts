import { FOLD, type PlaneSet } from '../../../src/optics/light/planes.ts'
import { at, integerAt } from '../../../src/optics/light/typed-arrays.ts'
import type { View } from '../../../src/optics/light/view.ts'
import type { Vector } from '../../../src/optics/solid/facet.ts'
import { aim, type LightPath } from './light-path.ts'

/**
 * Aims a ray from the eye through a point of the view, starting where it enters the stone.
 * @param across, along the point, in widths of the stone from the centre of the view
 * @returns the plane through which it enters, -1 if it misses the stone
 */
export function aimFrom(view: View, solid: PlaneSet, path: LightPath, across: number, along: number): number {
  const { eye } = view
  return aimAlong(solid, path, ...pointIn(view, across, along), -eye[0], -eye[1], -eye[2])
}

/** The point of space in the middle plane of the view, in widths of the stone from its centre. */
const pointIn = ({ right, up, middle }: View, across: number, along: number): Vector => [
  middle[0] + across * right[0] + along * up[0],
  middle[1] + across * right[1] + along * up[1],
  middle[2] + across * right[2] + along * up[2],
]

/** Aims a ray along the line through (x y z) in direction (dx dy dz), starting where it enters the stone. Returns the plane, -1 if there is none. */
export function aimAlong(
  solid: PlaneSet,
  path: LightPath,
  x: number,
  y: number,
  z: number,
  dx: number,
  dy: number,
  dz: number,
): number {
  let [entryPlane, entryDistance, exitDistance] = [-1, -Infinity, Infinity]
  for (let plane = 0; plane < solid.count; plane++) {
    const speed = normalDot(solid.planes, plane, dx, dy, dz)
    const gap = at(solid.planes, 4 * plane + 3) - normalDot(solid.planes, plane, x, y, z)
    if (Math.abs(speed) < PARALLEL_TOLERANCE) {
      if (gap < 0) return -1
    } else if (speed < 0) {
      if (gap / speed > entryDistance) {
        entryDistance = gap / speed
        entryPlane = plane
      }
    } else if (gap / speed < exitDistance) exitDistance = gap / speed
  }
  // A line that crosses the fold first enters the stone's other half.
  if (entryDistance >= exitDistance || integerAt(solid.parts, entryPlane) === FOLD) return -1
  aim(path, x + entryDistance * dx, y + entryDistance * dy, z + entryDistance * dz, dx, dy, dz)
  return entryPlane
}

const PARALLEL_TOLERANCE = 1e-12

const normalDot = (planes: Float64Array, plane: number, x: number, y: number, z: number): number =>
  at(planes, 4 * plane) * x + at(planes, 4 * plane + 1) * y + at(planes, 4 * plane + 2) * z
