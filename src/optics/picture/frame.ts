import type { PlaneSet } from '../light/planes.ts'
import { boundsIn, project, viewFrom, type View } from '../light/view.ts'
import type { Face, Solid } from '../solid/solid.ts'
import { dot, radians, scale, type Vector } from '../solid/facet.ts'

/** A pixel's column and row in one number. */
const BITS = 12
export const MAX_COORDINATE = (1 << BITS) - 1

const spotAt = (column: number, row: number): number => (row << BITS) | column
export const columnOf = (spot: number): number => spot & MAX_COORDINATE
export const rowOf = (spot: number): number => spot >> BITS

type PixelBounds = {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** One view of a stone: the size of its frame and its position in the view. */
export type Frame = {
  readonly view: View
  readonly width: number
  readonly height: number
  /** Pixel size in widths of the stone, and the position of the frame's top left corner in the view. */
  readonly step: number
  readonly left: number
  readonly top: number
}

/** Scales the frame to leave a margin around the stone. */
const MARGIN = 1.04

/**
 * One frame per tilt of the stone along its length, all with the same pixel size.
 * @param size longer side of each frame in pixels
 * @param tilts degrees
 */
export function framesOf(solid: Solid, planes: PlaneSet, size: number, tilts: readonly number[]): readonly Frame[] {
  const upright = isUpsideDown(solid) ? -1 : 1
  const viewExtents = tilts.map((tilt) => {
    const from = viewFrom(planes, radians(Math.abs(tilt)), (Math.sign(upright * tilt) || 1) * (Math.PI / 2))
    const view = { ...from, right: scale(from.right, upright), up: scale(from.up, upright) }
    return { view, extent: extentOf(solid, view) }
  })
  const across = Math.max(...viewExtents.map(({ extent }) => extent.across))
  const along = Math.max(...viewExtents.map(({ extent }) => extent.along))
  const step = (MARGIN * Math.max(across, along)) / size
  // Each half has its own columns: a ray in the plane between the halves would belong to neither.
  const width = solid.halves * Math.ceil((MARGIN * across) / step / solid.halves)
  const height = Math.ceil((MARGIN * along) / step)
  return viewExtents.map(({ view, extent }) => ({
    view,
    width,
    height,
    step,
    left: extent.left - (width * step) / 2,
    top: extent.middle + (height * step) / 2,
  }))
}

/** Minimum offset of the face's centroid from the middle, as a fraction of the length; less is rounding. */
const OFF_MIDDLE = 0.01

/** Whether a stone with one narrow end has it at the bottom: a pear is shown with its point up. A heart, modelled by halves, is upright. */
function isUpsideDown({ faces, halves, length }: Solid): boolean {
  if (halves === 2) return false
  const ys = faces.flatMap(({ corners }) => corners.map(([, y]) => y))
  const visibleFaces = faces.filter(({ facet }) => facet.normal[2] > 0)
  const areas = visibleFaces.map(({ facet, area }) => facet.normal[2] * area)
  const totalArea = areas.reduce((sum, area) => sum + area, 0)
  const centroidY = visibleFaces.reduce((sum, { corners }, index) => {
    const middle = corners.reduce((total, [, y]) => total + y, 0) / corners.length
    return sum + ((areas[index] ?? 0) * middle) / totalArea
  }, 0)
  return centroidY - (Math.max(...ys) + Math.min(...ys)) / 2 > OFF_MIDDLE * length
}

/** Size and centre of the stone in a view; of a stone modelled by one half, those of the whole stone. */
function extentOf(solid: Solid, view: View) {
  const { left, right, bottom, top } = boundsIn(view, solid)
  const isHalf = solid.halves === 2
  return {
    across: isHalf ? 2 * right : right - left,
    along: top - bottom,
    left: isHalf ? 0 : (right + left) / 2,
    middle: (top + bottom) / 2,
  }
}

/** Column and row of a point of the stone. Pixel centres have integer coordinates. */
function pixelOf({ view, step, left, top }: Frame, point: Vector): readonly [column: number, row: number] {
  const [across, along] = project(view, point)
  return [(across - left) / step - 0.5, (top - along) / step - 0.5]
}

/** The point of the view at the first pixel's centre, and the steps to the next column and the next row: nine numbers. */
export function rayPositionsOf({ view: { right, up, middle }, step, left, top }: Frame): Float64Array {
  const [x, y] = [left + 0.5 * step, top - 0.5 * step]
  const first = middle.map((value, axis) => value + x * (right[axis] ?? 0) + y * (up[axis] ?? 0))
  return Float64Array.from([...first, ...right.map((value) => step * value), ...up.map((value) => -step * value)])
}

/** The pixels of a frame in which a facet is visible: there, eye rays enter the stone through it. */
export type VisibleFacet = { readonly plane: number; readonly spots: Int32Array; readonly bounds: PixelBounds }

/** Rounding tolerance in pixels, so that no pixel between two facets is lost. */
const ROUNDING = 1e-9

export const visibleFacetsOf = ({ faces }: Solid, { order }: PlaneSet, frame: Frame): VisibleFacet[] =>
  faces
    .filter(({ facet }) => facet.part !== 'fold' && dot(facet.normal, frame.view.eye) > 0)
    .flatMap((face) => visibleFacetOf(face, order.indexOf(face.facet), frame) ?? [])

/** undefined if no pixel's centre shows the facet */
function visibleFacetOf({ corners }: Face, plane: number, frame: Frame): VisibleFacet | undefined {
  const outline = corners.map((corner) => pixelOf(frame, corner))
  const rows = outline.map(([, row]) => row)
  const spots: number[] = []
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
  const last = Math.min(frame.height - 1, Math.floor(Math.max(...rows) + ROUNDING))
  for (let row = Math.max(0, Math.ceil(Math.min(...rows) - ROUNDING)); row <= last; row++) {
    const [from, to] = columnsIn(outline, row)
    if (from > to) continue
    for (let column = from; column <= to; column++) spots.push(spotAt(column, row))
    left = Math.min(left, from)
    right = Math.max(right, to)
    top = Math.min(top, row)
    bottom = row
  }
  return spots.length === 0 ? undefined : { plane, spots: Int32Array.from(spots), bounds: { left, right, top, bottom } }
}

/** The first and the last column of a row inside a convex outline; last < first if there is none. */
function columnsIn(outline: readonly (readonly [column: number, row: number])[], row: number): [number, number] {
  let [min, max] = [Infinity, -Infinity]
  for (const [index, [fromColumn, fromRow]] of outline.entries()) {
    const [toColumn, toRow] = outline[(index + 1) % outline.length] ?? [fromColumn, fromRow]
    if (Math.min(fromRow, toRow) > row + ROUNDING || Math.max(fromRow, toRow) < row - ROUNDING) continue
    const isLevel = Math.abs(toRow - fromRow) < ROUNDING
    const fraction = isLevel ? 0 : Math.min(1, Math.max(0, (row - fromRow) / (toRow - fromRow)))
    const column = fromColumn + fraction * (toColumn - fromColumn)
    min = Math.min(min, column, isLevel ? toColumn : column)
    max = Math.max(max, column, isLevel ? toColumn : column)
  }
  return [Math.ceil(min - ROUNDING), Math.floor(max + ROUNDING)]
}
