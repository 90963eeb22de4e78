/** The mean of several runs, and its relative standard error. */
export type Estimate = { readonly mean: number; readonly standardError: number }

/** @param runs at least two independent estimates of the same figure */
export function estimateMean(runs: readonly number[]): Estimate {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length
  const squares = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0)
  return { mean, standardError: Math.sqrt(squares / (runs.length - 1) / runs.length) / mean }
}

/** The ratio of two independent estimates. */
export const ratioOf = (one: Estimate, other: Estimate): Estimate => ({
  mean: one.mean / other.mean,
  standardError: Math.hypot(one.standardError, other.standardError),
})
