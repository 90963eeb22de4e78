/**
 * The candidate a mistyped name most likely meant, by edit distance without regard to case; the first of equally near
 * ones, undefined when more than two fifths of every candidate would have to change.
 */
export function findClosestName(name: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const limit = Math.max(1, Math.floor(candidate.length * 0.4))
    // A name of a megabyte is refused here, before the work that grows with its length.
    if (Math.abs(candidate.length - name.length) > limit) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/**
 * The candidate that a name is but for its case or a letter or two, the first of equally near ones: one letter in a word
 * of four, two in a longer one. Short words that differ by a letter are other words.
 */
export function findNearMiss(name: string, candidates: readonly string[]): string | undefined {
  const small = name.toLowerCase()
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const limit = Math.max(0, Math.min(2, candidate.length - 3))
    if (Math.abs(candidate.length - name.length) > limit) continue
    const distance = editDistance(small, candidate.toLowerCase())
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

/** Characters inserted, left out, replaced, or swapped with their neighbour (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  let before: number[] = []
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
          swapped ? cell(before, column - 2) + 1 : Infinity,
        ),
      )
    }
    before = above
    above = current
  }
  return cell(above, to.length)
}

const cell = (row: readonly number[], column: number) => row[column] ?? Infinity
