/** The mean of several runs, and its relative standard error. */
export type Estimate = { readonly mean: number; readonly chance: number }

/** @param runs at least two independent estimates of the same figure */
export function estimateOf(runs: readonly number[]): Estimate {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length
  const squares = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0)
  return { mean, chance: Math.sqrt(squares / (runs.length - 1) / runs.length) / mean }
}

/** The ratio of two independent estimates. */
export const over = (one: Estimate, other: Estimate): Estimate => ({
  mean: one.mean / other.mean,
  chance: Math.hypot(one.chance, other.chance),
})
