/**
 * The non-increasing numbers that are closest to the given ones by least squares (pool adjacent violators; Ayer et al., Annals of
 * Mathematical Statistics 26, 1955). The first number stays, and no other one exceeds it.
 */
export function nonIncreasing(values: readonly number[]): number[] {
  const [first = NaN, ...others] = values
  const blocks: { sum: number; count: number }[] = []
  for (const value of others) {
    let block = { sum: value, count: 1 }
    for (let last = blocks.at(-1); last !== undefined && mean(last) < mean(block); last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, count: block.count + last.count }
      blocks.pop()
    }
    blocks.push(block)
  }
  return [first, ...blocks.flatMap((block) => Array.from({ length: block.count }, () => Math.min(first, mean(block))))]
}

const mean = ({ sum, count }: { sum: number; count: number }): number => sum / count
