import { boxOf } from './mesh.ts'
import { narrowestRectangle, outlineOf } from './outline.ts'
import { add, cross, dot, scale, unit, type Vector } from '../solid/vector.ts'

/** How a body stands with its table up: the directions of its width, length and depth, its measures and its middle. Millimetres. */
export type Stand = {
  readonly axes: readonly [across: Vector, along: Vector, up: Vector]
  readonly width: number
  readonly length: number
  readonly depth: number
  /** The middle of the rectangle around the outline, at the outline's mean height: the girdle's. */
  readonly centre: Vector
}

/** @param up the table's normal, a unit vector */
export function standing(vertices: readonly Vector[], up: Vector): Stand {
  const right = unit(Math.abs(up[2]) < 0.9 ? cross(up, [0, 0, 1]) : cross(up, [1, 0, 0]))
  const back = cross(up, right)
  const outline = outlineOf(seen(vertices, [right, back, up]))
  const { across: direction } = narrowestRectangle(outline)
  const across = add(scale(right, direction[0]), scale(back, direction[1]))
  const axes = [across, cross(up, across), up] as const
  const { least, most } = boxOf(seen(vertices, axes))
  const middle = scale(add(least, most), 0.5)
  const height = outline.reduce((sum, [, , z]) => sum + z, 0) / outline.length
  return {
    axes,
    width: most[0] - least[0],
    length: most[1] - least[1],
    depth: most[2] - least[2],
    centre: add(add(scale(across, middle[0]), scale(axes[1], middle[1])), scale(up, height)),
  }
}

const seen = (vertices: readonly Vector[], [x, y, z]: Stand['axes']): Vector[] =>
  vertices.map((vertex) => [dot(vertex, x), dot(vertex, y), dot(vertex, z)])
