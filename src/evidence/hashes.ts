import { hash } from 'node:crypto'
import type { StoredEvent } from '../stores/ports/event-store.ts'

/** SHA-256, 32 bytes. */
export type Hash = Buffer

const LEAF_PREFIX = Buffer.of(0x00)
const NODE_PREFIX = Buffer.of(0x01)

const sha256 = (...parts: readonly Buffer[]): Hash => hash('sha256', Buffer.concat(parts), 'buffer')

/**
 * Leaf and node hashes have different prefixes (RFC 6962, section 2.1), so that neither can be passed off as the other.
 */
export const leafHash = (leaf: string): Hash => sha256(LEAF_PREFIX, Buffer.from(leaf))

export const nodeHash = (left: Hash, right: Hash): Hash => sha256(NODE_PREFIX, left, right)

export const EMPTY_ROOT: Hash = sha256()

/** Standard base64 with padding, as other transparency log tools write hashes. */
export const formatHash = (bytes: Hash): string => bytes.toString('base64')

const HASH_PATTERN = /^[A-Za-z0-9+/]{43}=$/

/** @returns undefined unless the text is a hash as `formatHash` writes it */
export function parseHash(text: string): Hash | undefined {
  const bytes = HASH_PATTERN.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes !== undefined && formatHash(bytes) === text ? bytes : undefined
}

/**
 * Canonical JSON (RFC 8785): members sorted by the UTF-16 code units of their names, numbers and strings as in
 * ECMAScript, no white space. RFC 8785 rejects lone surrogates; here they are escaped, so that every stored event has a
 * leaf. Performance matters: it runs for every appended event.
 * @throws TypeError for a value that JSON can't represent
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoteJson(value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    return `${value}`
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) throw new TypeError(`${String(value)} is not a JSON value`)
  let text = ''
  for (const name of Object.keys(value).sort()) {
    text += `${text === '' ? '' : ','}${quoteJson(name)}:${canonicalJson(value[name])}`
  }
  return `{${text}}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Characters that need no escaping. Testing for them is three times as fast as JSON.stringify. */
const PLAIN = /^[ !#-[\]-~]*$/

const quoteJson = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/**
 * The part of an event that its leaf hash covers. It is independent of the event store, so the tree is the same on any
 * store.
 */
export type LeafEvent = Pick<StoredEvent, 'stream' | 'id' | 'type' | 'data' | 'metadata'> & {
  readonly revision: number
}

/** `data` is the stored payload, without upcasting. */
export const toLeafEvent = ({ stream, revision, id, type, data, metadata }: StoredEvent): LeafEvent => ({
  stream,
  revision: Number(revision),
  id,
  type,
  data,
  metadata,
})

export const hashLeafEvent = (event: LeafEvent): Hash => leafHash(canonicalJson(event))
