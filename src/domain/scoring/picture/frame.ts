import type { Planes } from '../light/planes.ts'
import { viewFrom, type View } from '../light/view.ts'
import type { Solid } from '../solid/solid.ts'
import { radians, scale, type Vector } from '../solid/vector.ts'

/** One look at a stone: which pixels it takes, and where in the view they are. */
export type Frame = {
  readonly view: View
  readonly width: number
  readonly height: number
  /** Of a pixel, in the stone's widths, and the place in the view of the frame's left upper corner. */
  readonly step: number
  readonly left: number
  readonly top: number
}

/** Empty part of the picture around the stone. */
const MARGIN = 1.04

/** Looks at a stone that is tilted by so many degrees along its length, in pixels of one size. @param size the longer side of each, in pixels */
export function framesOf(solid: Solid, planes: Planes, size: number, tilts: readonly number[]): readonly Frame[] {
  const upright = isUpsideDown(solid) ? -1 : 1
  const looks = tilts.map((tilt) => {
    const from = viewFrom(planes, radians(Math.abs(tilt)), (Math.sign(upright * tilt) || 1) * (Math.PI / 2))
    const view = { ...from, right: scale(from.right, upright), up: scale(from.up, upright) }
    return { view, extent: extentOf(solid, view) }
  })
  const across = Math.max(...looks.map(({ extent }) => extent.across))
  const along = Math.max(...looks.map(({ extent }) => extent.along))
  const step = (MARGIN * Math.max(across, along)) / size
  // Of two halves each has its own columns: a ray that runs along the plane between them is on neither side.
  const width = solid.halves * Math.ceil((MARGIN * across) / step / solid.halves)
  const height = Math.ceil((MARGIN * along) / step)
  return looks.map(({ view, extent }) => ({
    view,
    width,
    height,
    step,
    left: extent.left - (width * step) / 2,
    top: extent.middle + (height * step) / 2,
  }))
}

/** How far off the middle of its length, as part of it, a stone's face is that is no rounding. */
const OFF_MIDDLE = 0.01

/** Whether a stone with one narrower end has it below: a pear is shown with its point above. What is modelled by halves is a heart, and lies right. */
function isUpsideDown({ faces, halves, length }: Solid): boolean {
  if (halves === 2) return false
  const ys = faces.flatMap(({ corners }) => corners.map(([, y]) => y))
  const shown = faces.filter(({ facet }) => facet.normal[2] > 0)
  const areas = shown.map(({ facet, area }) => facet.normal[2] * area)
  const sum = areas.reduce((before, area) => before + area, 0)
  const heavy = shown.reduce((before, { corners }, index) => {
    const middle = corners.reduce((total, [, y]) => total + y, 0) / corners.length
    return before + ((areas[index] ?? 0) * middle) / sum
  }, 0)
  return heavy - (Math.max(...ys) + Math.min(...ys)) / 2 > OFF_MIDDLE * length
}

/** How far the stone reaches in a view, and where its middle is; of one half also what the other reaches. */
function extentOf({ faces, halves }: Solid, view: View) {
  const places = faces.flatMap(({ corners }) => corners.map((corner) => placeIn(view, corner)))
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)]
  const across = halves === 2 ? 2 * Math.max(...xs) : Math.max(...xs) - Math.min(...xs)
  return {
    across,
    along: Math.max(...ys) - Math.min(...ys),
    left: halves === 2 ? 0 : (Math.max(...xs) + Math.min(...xs)) / 2,
    middle: (Math.max(...ys) + Math.min(...ys)) / 2,
  }
}

/** Across and along a view, in the stone's widths from its middle. */
function placeIn({ right, up, middle }: View, [x, y, z]: Vector): readonly [across: number, along: number] {
  const [fromX, fromY, fromZ] = [x - middle[0], y - middle[1], z - middle[2]]
  return [fromX * right[0] + fromY * right[1] + fromZ * right[2], fromX * up[0] + fromY * up[1] + fromZ * up[2]]
}

/** Column and row of a point of the stone; those of a pixel's middle are whole. */
export function pixelOf({ view, step, left, top }: Frame, point: Vector): readonly [column: number, row: number] {
  const [across, along] = placeIn(view, point)
  return [(across - left) / step - 0.5, (top - along) / step - 0.5]
}

/** The point of the view in the middle of the first pixel, and from there to the next column and row: nine numbers. */
export function placesOf({ view: { right, up, middle }, step, left, top }: Frame): Float64Array {
  const [x, y] = [left + 0.5 * step, top - 0.5 * step]
  const first = middle.map((value, axis) => value + x * (right[axis] ?? 0) + y * (up[axis] ?? 0))
  return Float64Array.from([...first, ...right.map((value) => step * value), ...up.map((value) => -step * value)])
}
