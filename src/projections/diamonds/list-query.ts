import type { DiamondFields, FilteredField } from '../../domain/diamond/fields.ts'
import type { FieldValue } from '../../stores/ports/read-store.ts'

/** A range of numbers, both ends included. */
export type Range = { readonly from?: number; readonly to?: number }

/** What a filter takes: any of some values, yes or no, or a range. */
type Taken = { values: readonly (number | string)[]; flag: boolean; range: Range }

/** The filters of v4's lists beside the interface's, and what each of them takes. `integral` is the score's `val`. */
export const ADDED_FILTERS = {
  cutShape: 'values',
  color: 'values',
  clarity: 'values',
  isLabGrown: 'flag',
  carat: 'range',
  price: 'range',
  hasScores: 'flag',
  integral: 'range',
} as const satisfies Record<string, keyof Taken>

export type AddedFilter = keyof typeof ADDED_FILTERS

/** The orders of v4's lists. Ties go by id in the same direction; what has no value comes last. */
export const SORTS = ['-date', 'date', 'carat', '-carat', 'price', '-price', 'sku', 'integral', '-integral'] as const
export type Sort = (typeof SORTS)[number]
export const NEWEST_FIRST = '-date' satisfies Sort

/** Of a field that is filtered by: any of these texts, or yes or no. */
export type DiamondFilter = {
  readonly [Name in FilteredField]?: DiamondFields[Name] extends boolean ? boolean : readonly DiamondFields[Name][]
} & { readonly [Name in AddedFilter]?: Taken[(typeof ADDED_FILTERS)[Name]] } & {
  readonly ids?: readonly number[]
  /** Seconds since 1970, both included. */
  readonly from?: number
  readonly to?: number
}

/** A place in the order of a list: what the fields of the order are there. */
export type Place = readonly FieldValue[]

export type Page = {
  readonly limit: number
  readonly offset: number
  /** The page begins behind this place, at no more cost than the first; empty for the first page. Then `offset` is 0. */
  readonly after?: Place
  /** The newest first, unless told. */
  readonly sort?: Sort
}
