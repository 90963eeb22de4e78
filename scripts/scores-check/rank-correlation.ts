/** Spearman's rank correlation of two lists of equal length; equal values get the mean of their ranks. */
export function rankCorrelation(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [ranksOf(one), ranksOf(other)]
  const middle = (one.length - 1) / 2
  const sum = (x: readonly number[], y: readonly number[]) =>
    x.reduce((total, rank, index) => total + (rank - middle) * ((y[index] ?? middle) - middle), 0)
  return sum(a, b) / Math.sqrt(sum(a, a) * sum(b, b))
}

function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}
