import { boundingBox, diagonalOf, withoutUnusedVertices, type Mesh } from './mesh.ts'
import type { Vector } from '../solid/facet.ts'

/** Points closer than this fraction of the size are merged. Single precision resolves a tenth of it. */
export const WELD = 1e-6

/** Grid cell width in multiples of the tolerance: most points then touch only one cell. */
const CELL = 4
/** More cells than along any axis: combines two cell indices into one number. */
const SPAN = 2 ** 20

/**
 * Merges points that are nearly equal and removes unused ones. Facets keep their order; a facet that loses corners may have fewer than
 * three left.
 */
export function weldVertices(mesh: Mesh): Mesh {
  const { vertices, facets } = withoutUnusedVertices(mesh)
  const tolerance = WELD * diagonalOf(vertices)
  const { points, indices } = mergeNearPoints(vertices, tolerance)
  return {
    vertices: points,
    facets: facets.map((facet) => withoutRepeats(facet.map((corner) => indices[corner] ?? corner))),
  }
}

function withoutRepeats(corners: readonly number[]): number[] {
  return corners.filter((corner, index) => corner !== corners[index === 0 ? corners.length - 1 : index - 1])
}

/** Compares each point only with the kept points in nearby grid cells, so the number of comparisons is bounded. */
function mergeNearPoints(vertices: readonly Vector[], tolerance: number): { points: Vector[]; indices: Int32Array } {
  const points: Vector[] = []
  const indices = new Int32Array(vertices.length)
  const cells = cellsOf(boundingBox(vertices).min, CELL * tolerance || 1)
  for (const [index, vertex] of vertices.entries()) {
    let mergedIndex = -1
    for (const cell of cells.around(vertex, tolerance)) {
      for (let other = cells.first(cell); other >= 0 && mergedIndex < 0; other = cells.next[other] ?? -1) {
        if (isNear(points[other] ?? vertex, vertex, tolerance)) mergedIndex = other
      }
    }
    if (mergedIndex < 0) {
      mergedIndex = points.push(vertex) - 1
      cells.add(vertex, mergedIndex)
    }
    indices[index] = mergedIndex
  }
  return { points, indices }
}

const isNear = (a: Vector, b: Vector, tolerance: number): boolean =>
  (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 <= tolerance ** 2

/** A grid of linked lists: the `first` point of a cell, and for each point the `next` one in its cell, -1 at the end. */
function cellsOf([left, front, bottom]: Vector, cellWidth: number) {
  const columns = new Map<number, number>()
  const heads = new Map<number, number>()
  const next: number[] = []
  const column = (x: number, y: number) => x * SPAN + y
  const indexOf = (value: number, from: number) => Math.floor((value - from) / cellWidth)
  const range = (value: number, from: number, radius: number) => {
    const [low, high] = [indexOf(value - radius, from), indexOf(value + radius, from)]
    return low === high ? [low] : [low, high]
  }
  return {
    next,
    first: (cell: number) => heads.get(cell) ?? -1,
    around: ([x, y, z]: Vector, radius: number): number[] =>
      range(x, left, radius).flatMap((column1) =>
        range(y, front, radius).flatMap((column2) => {
          const columnId = columns.get(column(column1, column2))
          return columnId === undefined ? [] : range(z, bottom, radius).map((layer) => columnId * SPAN + layer)
        }),
      ),
    add: ([x, y, z]: Vector, point: number): void => {
      const key = column(indexOf(x, left), indexOf(y, front))
      const columnId = columns.get(key) ?? columns.size
      columns.set(key, columnId)
      const cell = columnId * SPAN + indexOf(z, bottom)
      next[point] = heads.get(cell) ?? -1
      heads.set(cell, point)
    },
  }
}
