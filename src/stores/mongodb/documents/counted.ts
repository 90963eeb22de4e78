import type { FieldValue } from '../../ports/read-store.ts'
import type { Place } from '../place.ts'

/** Under which values a document is counted, from a revision on; null where under none of the group. */
export type Counted = {
  readonly key: string
  readonly revision: bigint
  readonly values: readonly FieldValue[] | null
  readonly at: Place
}

type Row = readonly [
  key: string,
  revision: string,
  values: readonly FieldValue[] | null,
  commit: string,
  prepare: string,
]

/** One text: a list of hundreds of objects costs whoever reads the group's sums 20 times what they cost. */
export const countedText = (counted: Iterable<Counted>): string =>
  JSON.stringify(
    Array.from(counted, ({ key, revision, values, at }): Row => [
      key,
      String(revision),
      values,
      String(at.commit),
      String(at.prepare),
    ]),
  )

export const countedIn = (text: string): Counted[] =>
  (JSON.parse(text) as Row[]).map(([key, revision, values, commit, prepare]) => ({
    key,
    revision: BigInt(revision),
    values,
    at: { commit: BigInt(commit), prepare: BigInt(prepare) },
  }))
