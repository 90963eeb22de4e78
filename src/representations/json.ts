import type { ErrorDetail } from '../domain/decider.ts'
import { visibleText } from '../domain/visible-text.ts'

/** What was read from a request's JSON, or all that is wrong with it. */
export type ParseResult<Value> =
  | { readonly value: Value; readonly errors?: undefined }
  | { readonly value?: undefined; readonly errors: readonly ErrorDetail[] }

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a JSON value is, for a message. */
export function describeJsonType(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Characters of a value that a message repeats. */
const SHOWN = 60

/** The start of a JSON value, for a message: what is behind it takes no time, however long it is. */
export function jsonExcerpt(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN)).slice(0, SHOWN)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // JSON has no word for it, and would call it null.
  if (value === Infinity || value === -Infinity) return 'a number beyond 1.8e308'
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, SHOWN)
}

/** A JSON Pointer's token, RFC 6901. */
export const pointerToken = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

const CONTROL = /\p{Cc}/u

/**
 * A text as it is kept: as people see it, without blanks around it (visible-text.ts).
 * @param max characters as people count them (code points)
 * @returns undefined for what is no text, is longer, or holds nothing but blanks, a control character, or half a
 *   surrogate pair
 */
export function parseText(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = visibleText(value)
  if (text.length === 0 || text.length > 2 * max || !text.isWellFormed() || CONTROL.test(text)) return undefined
  return text.length <= max || [...text].length <= max ? text : undefined
}

/** How long a signed link opens, as long as the access that it was made for is the stone's. */
export const LINK_LIFETIMES = { oneDay: 'd', untilAccessChanges: 'a' } as const
export type LinkLifetime = (typeof LINK_LIFETIMES)[keyof typeof LINK_LIFETIMES]

/** Makes the links in bodies of paths: where the service is, and what it signs with, is known only when one is sent. */
export type LinkBuilder = {
  /** A link that anybody may follow. */
  plain(path: string): string
  /** A link that opens by its signature. @param revision of the stone's access, to which it is bound */
  signed(path: string, lasting: LinkLifetime, revision: number): string
}

/** Links as their paths alone, for bodies that are compared and not sent. */
export const PATH_LINKS: LinkBuilder = { plain: (path) => path, signed: (path) => path }
