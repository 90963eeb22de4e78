import { createHash } from 'node:crypto'

/** A literal implementation of RFC 6962, section 2.1, independent of src/evidence. */
const sha256 = (...parts: readonly Buffer[]): Buffer =>
  parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest()

const split = (leaves: readonly Buffer[]): number => {
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return k
}

export function plainRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  const [leaf] = leaves
  if (leaves.length === 1 && leaf !== undefined) return sha256(Buffer.of(0), leaf)
  const k = split(leaves)
  return sha256(Buffer.of(1), plainRoot(leaves.slice(0, k)), plainRoot(leaves.slice(k)))
}

export function plainPath(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return []
  const k = split(leaves)
  return m < k
    ? [...plainPath(m, leaves.slice(0, k)), plainRoot(leaves.slice(k))]
    : [...plainPath(m - k, leaves.slice(k)), plainRoot(leaves.slice(0, k))]
}

export const plainConsistency = (m: number, leaves: readonly Buffer[]): Buffer[] => subProof(m, leaves, true)

function subProof(m: number, leaves: readonly Buffer[], isRootKnown: boolean): Buffer[] {
  if (m === leaves.length) return isRootKnown ? [] : [plainRoot(leaves)]
  const k = split(leaves)
  return m <= k
    ? [...subProof(m, leaves.slice(0, k), isRootKnown), plainRoot(leaves.slice(k))]
    : [...subProof(m - k, leaves.slice(k), false), plainRoot(leaves.slice(0, k))]
}

/** The root that follows from an inclusion proof (RFC 6962: audit path). @param path from the leaf to the root */
export function plainRootFrom(leaf: Buffer, m: number, n: number, path: readonly Buffer[]): Buffer {
  const above = path.at(-1)
  if (n === 1 || above === undefined) {
    if (n !== 1 || path.length > 0) throw new Error(`${path.length} hashes for leaf ${m} of ${n}`)
    return sha256(Buffer.of(0), leaf)
  }
  let k = 1
  while (k * 2 < n) k *= 2
  const below = path.slice(0, -1)
  return m < k
    ? sha256(Buffer.of(1), plainRootFrom(leaf, m, k, below), above)
    : sha256(Buffer.of(1), above, plainRootFrom(leaf, m - k, n - k, below))
}
