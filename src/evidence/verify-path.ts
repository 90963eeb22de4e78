import { nodeHash, type Hash } from './hashes.ts'

/**
 * What a verifier does with a proof: RFC 9162, 2.1.3.2 and 2.1.4.2. It walks up by the bits of the numbers and shares nothing
 * with what makes proofs.
 */

/** @returns the root that the path leads to, undefined where it does not fit the numbers. @param size of the tree */
export function rootFrom(leaf: Hash, index: number, size: number, path: readonly Hash[]): Hash | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return undefined
  let [at, last] = [index, size - 1]
  let root = leaf
  for (const hash of path) {
    if (last === 0) return undefined
    if (isOdd(at) || at === last) {
      root = nodeHash(hash, root)
      while (!isOdd(at) && at !== 0) [at, last] = [up(at), up(last)]
    } else root = nodeHash(root, hash)
    ;[at, last] = [up(at), up(last)]
  }
  return last === 0 ? root : undefined
}

/** Roots of a tree at two of its sizes. */
export type Sized = { readonly size: number; readonly root: Hash }

/** Whether the path shows that the one is the beginning of the other. */
export function isBeginning(one: Sized, other: Sized, path: readonly Hash[]): boolean {
  if (one.size > other.size || one.size < 0) return false
  if (one.size === other.size) return path.length === 0 && one.root.equals(other.root)
  if (one.size === 0) return path.length === 0
  const [first, ...rest] = Math.log2(one.size) % 1 === 0 ? [one.root, ...path] : path
  if (first === undefined) return false
  let [at, last] = [one.size - 1, other.size - 1]
  while (isOdd(at)) [at, last] = [up(at), up(last)]
  let [before, after] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (isOdd(at) || at === last) {
      before = nodeHash(hash, before)
      after = nodeHash(hash, after)
      while (!isOdd(at) && at !== 0) [at, last] = [up(at), up(last)]
    } else after = nodeHash(after, hash)
    ;[at, last] = [up(at), up(last)]
  }
  return last === 0 && before.equals(one.root) && after.equals(other.root)
}

const isOdd = (number: number) => number % 2 === 1
const up = (number: number) => Math.floor(number / 2)
