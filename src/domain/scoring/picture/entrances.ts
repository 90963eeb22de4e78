import type { Planes } from '../light/planes.ts'
import type { Face, Solid } from '../solid/solid.ts'
import { dot } from '../solid/vector.ts'
import { pixelOf, type Frame } from './frame.ts'
import { spotAt, type Bounds } from './spots.ts'

/** The pixels of a frame that show a facet from outside: there rays from the eye enter the stone. */
export type Entrance = { readonly plane: number; readonly spots: Int32Array; readonly bounds: Bounds }

/** Pixels beyond an edge that still count, so that none between two facets is lost by rounding. */
const ROUNDING = 1e-9

export const entrancesOf = ({ faces }: Solid, { order }: Planes, frame: Frame): Entrance[] =>
  faces
    .filter(({ facet }) => facet.part !== 'fold' && dot(facet.normal, frame.view.eye) > 0)
    .flatMap((face) => entranceOf(face, order.indexOf(face.facet), frame) ?? [])

/** undefined where a facet shows in the middle of no pixel */
function entranceOf({ corners }: Face, plane: number, frame: Frame): Entrance | undefined {
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

/** The first and the last column of a row that are within a convex outline; the last before the first where none is. */
function columnsIn(outline: readonly (readonly [column: number, row: number])[], row: number): [number, number] {
  let [least, most] = [Infinity, -Infinity]
  for (const [index, [fromColumn, fromRow]] of outline.entries()) {
    const [toColumn, toRow] = outline[(index + 1) % outline.length] ?? [fromColumn, fromRow]
    if (Math.min(fromRow, toRow) > row + ROUNDING || Math.max(fromRow, toRow) < row - ROUNDING) continue
    const isLevel = Math.abs(toRow - fromRow) < ROUNDING
    const part = isLevel ? 0 : Math.min(1, Math.max(0, (row - fromRow) / (toRow - fromRow)))
    const column = fromColumn + part * (toColumn - fromColumn)
    least = Math.min(least, column, isLevel ? toColumn : column)
    most = Math.max(most, column, isLevel ? toColumn : column)
  }
  return [Math.ceil(least - ROUNDING), Math.floor(most + ROUNDING)]
}
