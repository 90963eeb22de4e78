/**
 * Which parts of a tree a proof is made of: RFC 6962, 2.1. Only numbers of leaves, no hashes. A range holds the leaves from
 * `begin` up to and without `end`, and is one that the RFC's way of cutting a tree comes by.
 */
export type LeafRange = { readonly begin: number; readonly end: number }

/** The 2^level leaves from index * 2^level on: as long as the tree grows, its hash stays what it is. */
export type PerfectSubtree = { readonly level: number; readonly index: number }

/** The largest power of two below a number of leaves; from 2 on. */
function half(leaves: number): number {
  let power = 1
  while (power * 2 < leaves) power *= 2
  return power
}

/** What is hashed with a leaf, one after another, to come to the root of the first `size` leaves. */
export function inclusionProofRanges(index: number, size: number): LeafRange[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`there is no leaf ${index} among ${size}`)
  const path: LeafRange[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + half(end - begin)
    path.unshift(index < middle ? { begin: middle, end } : { begin, end: middle })
    if (index < middle) end = middle
    else begin = middle
  }
  return path
}

/** What shows that the first `from` leaves are the beginning of the first `to`; nothing where either is all or none. */
export function consistencyProofRanges(from: number, to: number): LeafRange[] {
  if (!(from >= 0 && from <= to)) throw new RangeError(`${from} leaves are no beginning of ${to}`)
  if (from === 0 || from === to) return []
  const path: LeafRange[] = []
  let [begin, end] = [0, to]
  while (end !== from) {
    const middle = begin + half(end - begin)
    path.unshift(from <= middle ? { begin: middle, end } : { begin, end: middle })
    if (from <= middle) end = middle
    else begin = middle
  }
  // The verifier knows the hash of the first `from` leaves already, where they are one subtree.
  return begin === 0 ? path : [{ begin, end }, ...path]
}

/** The perfect subtrees that a range consists of, from the left, each smaller than the one before. */
export function perfectSubtreesOf({ begin, end }: LeafRange): PerfectSubtree[] {
  const parts: PerfectSubtree[] = []
  for (let at = begin; at < end;) {
    let [level, leaves] = [0, 1]
    while (leaves * 2 <= end - at) {
      leaves *= 2
      level++
    }
    parts.push({ level, index: at / leaves })
    at += leaves
  }
  return parts
}
