import type { ErrorDetail } from '../domain/request-error.ts'
import { describeLookAlikes } from '../domain/look-alikes.ts'
import { visibleText } from '../domain/visible-text.ts'

export type ParseResult<Value> =
  | { readonly value: Value; readonly errors?: undefined }
  | { readonly value?: undefined; readonly errors: readonly ErrorDetail[] }

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function describeJsonType(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Characters of a value that a message quotes. */
const MAX_EXCERPT_LENGTH = 60

/** The start of a JSON value, for messages, with the characters in it that look like others. Its cost does not depend on its size. */
export function jsonExcerpt(value: unknown): string {
  if (typeof value === 'string') {
    const start = value.slice(0, MAX_EXCERPT_LENGTH)
    const lookAlikes = describeLookAlikes(start)
    return JSON.stringify(start).slice(0, MAX_EXCERPT_LENGTH) + (lookAlikes === '' ? '' : ` (with ${lookAlikes})`)
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // JSON can't represent it; JSON.stringify would write null.
  if (value === Infinity || value === -Infinity) return 'a number beyond 1.8e308'
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, MAX_EXCERPT_LENGTH)
}

/** A time such as `2014-11-27T21:11:00+00:00`. @param milliseconds since 1970 */
export const formatTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`

/** Escapes a JSON Pointer token (RFC 6901). */
export const pointerToken = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

const CONTROL = /\p{Cc}/u

/**
 * Trims a text and normalizes it to its visible form (visible-text.ts).
 * @param max length in code points
 * @returns undefined if it is not a string, empty after trimming, too long, or contains a control character or a lone
 *   surrogate
 */
export function parseText(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = visibleText(value)
  if (text.length === 0 || text.length > 2 * max || !text.isWellFormed() || CONTROL.test(text)) return undefined
  return text.length <= max || [...text].length <= max ? text : undefined
}

/** The lifetime of a signed link. A link to a diamond ends in either case when the diamond's access settings change. */
export const LINK_LIFETIMES = { oneDay: 'd', untilAccessChanges: 'a' } as const
export type LinkLifetime = (typeof LINK_LIFETIMES)[keyof typeof LINK_LIFETIMES]

/**
 * Builds links for response bodies from paths. The origin and the signing key are known only when the response is sent.
 */
export type LinkBuilder = {
  plain(path: string): string
  /**
   * A signed link.
   * @param revision what the signature names, below 2^32: the revision of the diamond's access settings, for which alone the link
   *   is valid; for a feed, its account
   */
  signed(path: string, lifetime: LinkLifetime, revision: number): string
}

/** Links as paths only, for bodies that are compared rather than sent. */
export const PATH_LINKS: LinkBuilder = { plain: (path) => path, signed: (path) => path }
