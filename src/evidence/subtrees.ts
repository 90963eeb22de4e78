/**
 * The leaf ranges of which a proof consists (RFC 6962, section 2.1); numbers only, no hashes. A range includes `begin`,
 * excludes `end`, and is one of those into which the RFC splits a tree.
 */
export type LeafRange = { readonly begin: number; readonly end: number }

/** The 2^level leaves from index * 2^level on. Its hash never changes once all of them exist. */
export type PerfectSubtree = { readonly level: number; readonly index: number }

/** The largest power of two that is less than `leaves`, which must be at least 2. */
function largestPowerOfTwoBelow(leaves: number): number {
  let power = 1
  while (power * 2 < leaves) power *= 2
  return power
}

/** The ranges whose hashes lead from a leaf to the root of the first `size` leaves, in the order of hashing. */
export function inclusionProofRanges(index: number, size: number): LeafRange[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`leaf ${index} does not exist in a tree of ${size} leaves`)
  const path: LeafRange[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + largestPowerOfTwoBelow(end - begin)
    path.unshift(index < middle ? { begin: middle, end } : { begin, end: middle })
    if (index < middle) end = middle
    else begin = middle
  }
  return path
}

/**
 * The ranges that prove that a tree of `from` leaves is a prefix of a tree of `to` leaves. Empty if `from` is 0 or
 * equal to `to`.
 */
export function consistencyProofRanges(from: number, to: number): LeafRange[] {
  if (!(from >= 0 && from <= to)) throw new RangeError(`a tree of ${to} leaves had no earlier size ${from}`)
  if (from === 0 || from === to) return []
  const path: LeafRange[] = []
  let [begin, end] = [0, to]
  while (end !== from) {
    const middle = begin + largestPowerOfTwoBelow(end - begin)
    path.unshift(from <= middle ? { begin: middle, end } : { begin, end: middle })
    if (from <= middle) end = middle
    else begin = middle
  }
  // If the first `from` leaves are one subtree, the verifier knows its hash already.
  return begin === 0 ? path : [{ begin, end }, ...path]
}

/** Splits a range into perfect subtrees, from left to right, in decreasing size. */
export function perfectSubtreesOf({ begin, end }: LeafRange): PerfectSubtree[] {
  const subtrees: PerfectSubtree[] = []
  for (let at = begin; at < end;) {
    let [level, leaves] = [0, 1]
    while (leaves * 2 <= end - at) {
      leaves *= 2
      level++
    }
    subtrees.push({ level, index: at / leaves })
    at += leaves
  }
  return subtrees
}
