import type { Dictionary } from '../dictionaries/dictionary.ts'
import type { GradingScale } from '../dictionaries/girdle-and-culet.ts'

/** The versions of the Diamond API, in which one diamond is shown differently. */
export type ApiVersion = 'v3' | 'v4'

/** 0, 1 or 2: how much is open to others. */
export type AccessLevel = 0 | 1 | 2

/** What a value is, by the kind of its field, as events hold it. Dictionary fields hold ids, whatever way they came in. */
type FieldValues = {
  text: string
  amount: number
  flag: boolean
  /** An id of the tree of shapes, or a text that no dictionary knows, as it was written. */
  shape: number | string
  entry: number
  /** The title, or the short form, of a grading without ids. */
  scale: string
  level: AccessLevel
}

/** What is true of a field whatever its kind. */
type FieldAttributes = {
  /** Every diamond has it: it is there from the creation on, and can't be removed. */
  readonly required: boolean
  /** What it holds until it is set, and again after null removed its value; null for a required one, where it never shows. */
  readonly default: null | false | 0
  /** The versions that read it and show it. */
  readonly versions: readonly ApiVersion[]
  /** Scores are computed from it: a change makes them outdated. */
  readonly scored: boolean
  /** The versions whose lists can be filtered by it. What v3 filters by has an index of its own. */
  readonly filtered: readonly ApiVersion[]
  /** The orders by it that v4's lists have: each has an index. */
  readonly sorted: 'both ways' | 'ascending' | false
}

/** Bounds of an amount: over `over`, at least `from`, at most `to`. */
export type AmountRange = { readonly over?: number; readonly from?: number; readonly to?: number }

export type FieldDefinition = FieldAttributes &
  (
    | { readonly kind: 'text'; /** Characters (code points) at most. */ readonly to: number }
    | ({ readonly kind: 'amount' } & AmountRange)
    | { readonly kind: 'flag' }
    | { readonly kind: 'shape'; /** Characters of a text that no dictionary knows, at most. */ readonly to: number }
    | { readonly kind: 'entry'; readonly dictionary: Dictionary; readonly shown: 'title' | 'short' }
    | { readonly kind: 'scale'; readonly scale: GradingScale }
    | { readonly kind: 'level' }
  )

type FieldKind = FieldDefinition['kind']
type FieldOfKind<Name extends FieldKind> = Extract<FieldDefinition, { kind: Name }>

export type FieldValueOf<One extends FieldDefinition> =
  | FieldValues[One['kind']]
  | (One extends { readonly required: true } | { readonly kind: 'flag' | 'level' } ? never : null)

type FieldOptions = Partial<Omit<FieldAttributes, 'default'>>

/** The field that a constructor below makes: whether it is required, filtered and sorted by is known to the compiler. */
type DeclaredField<Name extends FieldKind, Own> = FieldOfKind<Name> & {
  readonly required: Own extends { required: true } ? true : false
  readonly filtered: Own extends { filtered: infer Versions extends readonly ApiVersion[] } ? Versions : readonly []
  readonly sorted: Own extends { sorted: infer Orders extends FieldAttributes['sorted'] } ? Orders : false
}

const DEFAULT_ATTRIBUTES = {
  required: false,
  default: null,
  versions: ['v3', 'v4'],
  scored: false,
  filtered: [],
  sorted: false,
} as const

const defineField = <Name extends FieldKind, Own>(field: FieldOfKind<Name>) => field as DeclaredField<Name, Own>

/** A text of 1 to `to` characters. */
export const text = <const Own extends FieldOptions & { to: number }>(own: Own) =>
  defineField<'text', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'text', ...own })

export const amount = <const Own extends FieldOptions & AmountRange>(own: Own) =>
  defineField<'amount', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'amount', ...own })

/** Yes or no, and no until it is said. */
export const flag = <const Own extends FieldOptions>(own?: Own) =>
  defineField<'flag', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'flag', default: false, ...own })

/** A cut shape. v4 shows its title; v3 knows the top level only. */
export const shape = <const Own extends FieldOptions & { to: number }>(own: Own) =>
  defineField<'shape', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'shape', ...own })

/** An entry of a dictionary. v3 reads and shows its id; v4 reads any form of it and shows its title, or the short form. */
export const entry = <Of extends Dictionary, const Own extends FieldOptions & { shown?: 'short' }>(
  of: Of,
  own?: Own,
) => ({
  ...defineField<'entry', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'entry', shown: 'title', dictionary: of, ...own }),
  dictionary: of,
})

/** A grading without ids. */
export const scale = <const Own extends FieldOptions>(of: GradingScale, own?: Own) =>
  defineField<'scale', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'scale', scale: of, ...own })

/** How much others may see: 0, the least, until it is said. */
export const level = <const Own extends FieldOptions>(own?: Own) =>
  defineField<'level', Own>({ ...DEFAULT_ATTRIBUTES, kind: 'level', default: 0, ...own })
