import type { Stone } from './cut/stone.ts'

/**
 * What is known of a stone: its shape; its grade; its table and depth; its table and both angles; stars and lower halves as well. The rest
 * is taken from what is typical.
 */
export const bases = ['shape', 'grade', 'depth', 'angles', 'all'] as const
export type Basis = (typeof bases)[number]

/** All that is known of a stone: a report that lacks a figure counts as the next poorer one that has all of its. */
export function basesOf({ cutGrade, measured = {} }: Pick<Stone, 'cutGrade' | 'measured'>): Basis[] {
  const has = (...names: readonly (keyof typeof measured)[]) => names.every((name) => measured[name] !== undefined)
  const hasAngles = has('tablePct', 'crownAngle', 'pavilionAngle')
  const known: Readonly<Record<Basis, boolean>> = {
    shape: true,
    grade: cutGrade !== undefined,
    depth: has('tablePct', 'depthPct'),
    angles: hasAngles,
    all: hasAngles && has('starPct', 'lowerPct'),
  }
  return bases.filter((basis) => known[basis])
}
