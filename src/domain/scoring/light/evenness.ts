import { at } from './numbers.ts'

/** A face in square cells, each as wide as a seventh of a round of the stone's area. */
export type Cells = {
  /** Cells across. */
  readonly row: number
  /** Spots across a cell. */
  readonly size: number
  readonly light: Float64Array
  readonly spots: Float64Array
}

const ACROSS = 7
const DARKEST = 1 / 5

/**
 * @param spots across a round of the stone's area
 * @param row spots across the picture, which holds the whole stone
 */
export function newCells(spots: number, row: number): Cells {
  const size = spots / ACROSS
  const cells = Math.ceil((row + 1) / size)
  return { row: cells, size, light: new Float64Array(cells * cells), spots: new Float64Array(cells * cells) }
}

/** Adds a spot: so many spots from the left, so many from below. */
export function addToCells({ row, size, light, spots }: Cells, x: number, y: number, brightness: number): void {
  const cell = Math.floor(y / size) * row + Math.floor(x / size)
  light[cell] = at(light, cell) + brightness
  spots[cell] = at(spots, cell) + 1
}

/** How bright the darkest fifth of the cells is, over all of them; cells that show less than half a cell of stone do not count. */
export function evennessOf({ light, spots }: Cells): number {
  const enough = Math.max(...spots) / 2
  const means = [...light.keys()]
    .filter((cell) => at(spots, cell) > enough)
    .map((cell) => at(light, cell) / at(spots, cell))
  means.sort((a, b) => a - b)
  const darkest = means.slice(0, Math.max(1, Math.floor(means.length * DARKEST)))
  const overall = mean(means)
  return overall > 0 ? mean(darkest) / overall : 0
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
