/** A mean of several runs, and its standard error as a part of it. */
export type Estimate = { readonly mean: number; readonly chance: number }

/** @param runs two at least, each by itself an estimate of the same */
export function estimateOf(runs: readonly number[]): Estimate {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length
  const squares = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0)
  return { mean, chance: Math.sqrt(squares / (runs.length - 1) / runs.length) / mean }
}

/** One estimate over another of another stone: chance carries the two apart from each other. */
export const over = (one: Estimate, other: Estimate): Estimate => ({
  mean: one.mean / other.mean,
  chance: Math.hypot(one.chance, other.chance),
})
