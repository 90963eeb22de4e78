import type { Match } from '../../commands/diamonds/change-diamonds.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Step } from '../kit/request.ts'

/**
 * If-Match on a write: only a diamond's revision counts, not that of its scores.
 * @returns undefined without the header; a list of the revisions that would do, which a weak or foreign tag adds nothing to
 */
export function parseIfMatch(header: string | undefined): Match | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  return tagsOf(header).flatMap((tag) => {
    const revision = /^"(\d{1,18})\.\d{1,18}"$/.exec(tag)?.[1]
    return revision === undefined ? [] : [BigInt(revision)]
  })
}

/** A tag is one diamond's: with many of them it would hold for none, or be overlooked. */
export const refuseBulkMatch: Step = (ctx, next) => {
  if (ctx.req.headers['if-match'] === undefined) return next()
  throw new Refusal('malformed', 'If-Match names one diamond; a bulk request has many: change that one by itself')
}

/** True when the caller's copy is still the one there is: RFC 9110, 13.1.2, weak comparison. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag)
}

const tagsOf = (header: string) => header.match(/(?:W\/)?"[^"]*"/g) ?? []
