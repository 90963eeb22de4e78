/**
 * The candidate with the smallest edit distance, case-insensitive; of several the first. undefined if more than two fifths of
 * every candidate would have to change.
 */
export function findClosestName(name: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const limit = Math.max(1, Math.floor(candidate.length * 0.4))
    // Skips the quadratic comparison for a very long name.
    if (Math.abs(candidate.length - name.length) > limit) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/**
 * The candidate that differs from a name by at most two letters, case-insensitive; of several the first. Only one letter for
 * candidates of four letters, none for shorter ones, because short words that differ by one letter are different words.
 */
export function findNearMiss(name: string, candidates: readonly string[]): string | undefined {
  const lowerCaseName = name.toLowerCase()
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const limit = Math.max(0, Math.min(2, candidate.length - 3))
    if (Math.abs(candidate.length - name.length) > limit) continue
    const distance = editDistance(lowerCaseName, candidate.toLowerCase())
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbouring characters. */
export function editDistance(from: string, to: string): number {
  let twoAbove: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          cell(above, column) + 1,
          cell(current, column - 1) + 1,
          cell(above, column - 1) + (same ? 0 : 1),
          swapped ? cell(twoAbove, column - 2) + 1 : Infinity,
        ),
      )
    }
    twoAbove = above
    above = current
  }
  return cell(above, to.length)
}

const cell = (row: readonly number[], column: number) => row[column] ?? Infinity
