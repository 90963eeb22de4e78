import { hash } from 'node:crypto'

/** 32 bytes of SHA-256. */
export type Hash = Buffer

const LEAF = Buffer.of(0x00)
const NODE = Buffer.of(0x01)

const sha256 = (...parts: readonly Buffer[]): Hash => hash('sha256', Buffer.concat(parts), 'buffer')

/** RFC 6962, 2.1: a leaf's prefix differs from a node's, so that none can be taken for the other. */
export const leafHash = (leaf: string): Hash => sha256(LEAF, Buffer.from(leaf))

export const nodeHash = (left: Hash, right: Hash): Hash => sha256(NODE, left, right)

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Hash = sha256()

/** Standard base64, padded, as the world's tools for such logs write hashes. */
export const hashText = (bytes: Hash): string => bytes.toString('base64')

const TEXT = /^[A-Za-z0-9+/]{43}=$/

/** @returns undefined for what is no hash, or is not written as `hashText` does */
export function readHash(text: string): Hash | undefined {
  const bytes = TEXT.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes !== undefined && hashText(bytes) === text ? bytes : undefined
}
