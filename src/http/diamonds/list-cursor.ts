import { timingSafeEqual } from 'node:crypto'
import type { Place } from '../../projections/diamonds/list-query.ts'
import type { Links } from '../kit/links.ts'

/** The list that a place is in: somebody's, in an order. */
export type Listed = { readonly account: number; readonly sort: string }

type Marks = Pick<Links, 'mark'>

/**
 * A place in a list as clients carry it: opaque, good for this account and this order alone, and as long as links are signed
 * by the same key. It holds what the last diamond of the page was sorted by, so it stays where it is whatever is written.
 */
export function cursorOf(marks: Marks, listed: Listed, place: Place): string {
  const text = JSON.stringify(place)
  return Buffer.concat([marks.mark(markedText(listed, text)), Buffer.from(text)]).toString('base64url')
}

/** @returns undefined for what was not given out for this list */
export function placeOf(marks: Marks, listed: Listed, cursor: string): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Other texts that stand for the same bytes were not given out either.
  if (bytes.length <= MARK || bytes.toString('base64url') !== cursor) return undefined
  const text = bytes.toString('utf8', MARK)
  if (!timingSafeEqual(bytes.subarray(0, MARK), marks.mark(markedText(listed, text)))) return undefined
  return JSON.parse(text) as Place
}

const markedText = ({ account, sort }: Listed, text: string) => `list\n${account}\n${sort}\n${text}`

/** Bytes. */
const MARK = 16
