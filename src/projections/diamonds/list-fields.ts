import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { hasScores, scoresIn, type ScoresText } from '../../representations/diamond/scores.ts'
import type { Document, ModelDeclaration } from '../../stores/ports/read-store.ts'

/**
 * What stands for a number that a diamond has not: below all that there are, so that it comes last where the greatest is
 * first.
 */
export const NONE = -Number.MAX_VALUE

/** Above `NONE`, and below all that there are: nobody has a price of 308 digits below zero. */
export const LEAST = NONE / 2

/** What stands for a cut shape that no dictionary knows, and for an entry that a diamond has not. */
export const NO_ENTRY = 0

/** What the read model keeps for the filters and orders of v4's lists, beside what is older than they. */
export const LIST_FIELDS = {
  isLabGrown: 'integer',
  /** Its id. */
  shape: 'integer',
  /** The same as text, or the text of one that has no id, which is never digits alone. */
  cutShape: 'text',
  color: 'integer',
  clarity: 'integer',
  carat: 'number',
  price: 'number',
  hasScores: 'integer',
  /** `scores.integral.val` */
  integral: 'number',
  /** The id once more: an index can have the key at its end alone, and one of them needs it before. */
  tie: 'integer',
} as const satisfies ModelDeclaration['fields']

/** @param scores null until there are some */
export function listFields({ id, fields }: LiveDiamond, scores: ScoresText | null): Document {
  const { cutShape, color, clarity, carat, price } = fields
  return {
    isLabGrown: Number(fields.isLabGrown),
    shape: typeof cutShape === 'number' ? cutShape : NO_ENTRY,
    cutShape: String(cutShape),
    color: color ?? NO_ENTRY,
    clarity: clarity ?? NO_ENTRY,
    carat,
    price: price ?? NONE,
    hasScores: Number(hasScores(scores)),
    integral: hasScores(scores) ? (scoresIn(scores).integral?.val ?? NONE) : NONE,
    tie: id,
  }
}
