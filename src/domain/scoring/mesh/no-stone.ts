import type { Vector } from '../solid/vector.ts'

/** A mesh that bounds no stone: open, not convex or degenerate. The message says where, in the file's numbers and millimetres. */
export class NoStone extends Error {
  override readonly name = 'NoStone'
}

/** A point as messages name it: micrometres are kept. */
export const named = ([x, y, z]: Vector): string => `(${rounded(x)}, ${rounded(y)}, ${rounded(z)})`

export const rounded = (value: number): number => Math.round(value * 1000) / 1000 + 0
