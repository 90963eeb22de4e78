import { at } from './numbers.ts'
import type { Planes } from './planes.ts'
import { aim, type Path } from './trace.ts'
import type { Vector } from '../solid/vector.ts'

/** An eye far from a stone, the middle of its girdle in the middle of the view. */
export type View = {
  /** From the stone to the eye. */
  readonly eye: Vector
  readonly right: Vector
  readonly up: Vector
  readonly middle: Vector
}

/**
 * @param tilt radians between the eye and the zenith
 * @param turn radians about the zenith, from the x axis, in which the eye stands
 */
export function viewFrom({ inner, crownEnds, pavilionEnds }: Planes, tilt: number, turn: number): View {
  const eye: Vector = [Math.sin(tilt) * Math.cos(turn), Math.sin(tilt) * Math.sin(turn), Math.cos(tilt)]
  const flat = Math.hypot(eye[0], eye[2])
  const right: Vector = [eye[2] / flat, 0, -eye[0] / flat]
  const up: Vector = [eye[1] * right[2], flat, -eye[1] * right[0]]
  return { eye, right, up, middle: [0, inner.middle, (crownEnds + pavilionEnds) / 2] }
}

/**
 * Aims the ray that an eye sends to a point of its view at where it enters the stone.
 * @param across, along the point, in the stone's widths from the middle of the view
 * @returns the plane through which it enters, -1 beside the stone
 */
export function aimFrom(view: View, solid: Planes, path: Path, across: number, along: number): number {
  const { eye, right, up, middle } = view
  const x = middle[0] + across * right[0] + along * up[0]
  const y = middle[1] + across * right[1] + along * up[1]
  const z = middle[2] + across * right[2] + along * up[2]
  let [first, entered, left] = [-1, -Infinity, Infinity]
  for (let plane = 0; plane < solid.foldFrom; plane++) {
    const towards = normalDot(solid.planes, plane, eye[0], eye[1], eye[2])
    const gap = at(solid.planes, 4 * plane + 3) - normalDot(solid.planes, plane, x, y, z)
    if (Math.abs(towards) < ALONG) {
      if (gap < 0) return -1
    } else if (towards > 0) {
      if (-gap / towards > entered) {
        entered = -gap / towards
        first = plane
      }
    } else if (-gap / towards < left) left = -gap / towards
  }
  if (entered >= left) return -1
  const [px, py, pz] = [x - entered * eye[0], y - entered * eye[1], z - entered * eye[2]]
  if (!isOnThisHalf(solid, px, py, pz)) return -1
  aim(path, px, py, pz, -eye[0], -eye[1], -eye[2])
  return first
}

/** A plane that a ray runs along, but for rounding. */
const ALONG = 1e-12

/** A plane's normal times a vector. */
const normalDot = (planes: Float64Array, plane: number, x: number, y: number, z: number): number =>
  at(planes, 4 * plane) * x + at(planes, 4 * plane + 1) * y + at(planes, 4 * plane + 2) * z

/** Of a stone that is traced by one of its halves, the other one, beyond the fold, is not looked at. */
function isOnThisHalf({ planes, foldFrom, count }: Planes, x: number, y: number, z: number): boolean {
  for (let plane = foldFrom; plane < count; plane++) {
    if (normalDot(planes, plane, x, y, z) > at(planes, 4 * plane + 3)) return false
  }
  return true
}
