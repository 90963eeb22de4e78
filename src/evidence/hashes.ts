import { hash } from 'node:crypto'
import type { StoredEvent } from '../stores/ports/event-store.ts'

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
export const formatHash = (bytes: Hash): string => bytes.toString('base64')

const TEXT = /^[A-Za-z0-9+/]{43}=$/

/** @returns undefined for what is no hash, or is not written as `hashText` does */
export function parseHash(text: string): Hash | undefined {
  const bytes = TEXT.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes !== undefined && formatHash(bytes) === text ? bytes : undefined
}

/**
 * RFC 8785: members in the order of their names' UTF-16 units, numbers and strings as ECMAScript writes them, no blanks. A
 * half of a surrogate pair is no text to the RFC; here it is written as its escape, so that every stored event has a leaf.
 * Every event that is appended comes through here once.
 * @throws TypeError for what is no JSON
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoteJson(value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    return `${value}`
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) throw new TypeError(`${String(value)} is no JSON`)
  let text = ''
  for (const name of inOrder(Object.keys(value))) {
    text += `${text === '' ? '' : ','}${quoteJson(name)}:${canonicalJson(value[name])}`
  }
  return `{${text}}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Characters that stand for themselves between quotes; JSON.stringify, which looks at each, takes three times as long. */
const PLAIN = /^[ !#-[\]-~]*$/

const quoteJson = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** Most objects come in order: sorting is for the others. */
function inOrder(names: string[]): string[] {
  for (let at = 1; at < names.length; at++) {
    if ((names[at - 1] ?? '') > (names[at] ?? '')) return names.sort()
  }
  return names
}

/** What a leaf says of an event: nothing of the engine that holds it, so that the tree is the same on another one. */
export type LeafEvent = Pick<StoredEvent, 'stream' | 'id' | 'type' | 'data' | 'metadata'> & {
  readonly revision: number
}

/** An event as leaves and proofs have it. Its data are those that are stored, whatever this release makes of them. */
export const toLeafEvent = ({ stream, revision, id, type, data, metadata }: StoredEvent): LeafEvent => ({
  stream,
  revision: Number(revision),
  id,
  type,
  data,
  metadata,
})

export const hashLeafEvent = (event: LeafEvent): Hash => leafHash(canonicalJson(event))
