import type { Dictionary } from '../dictionaries/dictionary.ts'
import type { Scale } from '../dictionaries/girdle.ts'

/** The versions of the Diamond API, in which one diamond is shown differently. */
export type ApiVersion = 'v3' | 'v4'

/** 0, 1 or 2: how much is open to others. */
export type AccessLevel = 0 | 1 | 2

/** What a value is, by the kind of its field, as events hold it. Dictionary fields hold ids, whatever way they came in. */
type Values = {
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
type Traits = {
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
export type Bounds = { readonly over?: number; readonly from?: number; readonly to?: number }

export type Field = Traits &
  (
    | { readonly kind: 'text'; /** Characters (code points) at most. */ readonly to: number }
    | ({ readonly kind: 'amount' } & Bounds)
    | { readonly kind: 'flag' }
    | { readonly kind: 'shape'; /** Characters of a text that no dictionary knows, at most. */ readonly to: number }
    | { readonly kind: 'entry'; readonly dictionary: Dictionary; readonly shown: 'title' | 'short' }
    | { readonly kind: 'scale'; readonly scale: Scale }
    | { readonly kind: 'level' }
  )

type Kind = Field['kind']
type Of<Name extends Kind> = Extract<Field, { kind: Name }>

export type ValueOf<One extends Field> =
  Values[One['kind']] | (One extends { readonly required: true } | { readonly kind: 'flag' | 'level' } ? never : null)

type Options = Partial<Omit<Traits, 'default'>>

/** The field that a constructor below makes: whether it is required, filtered and sorted by is known to the compiler. */
type Made<Name extends Kind, Own> = Of<Name> & {
  readonly required: Own extends { required: true } ? true : false
  readonly filtered: Own extends { filtered: infer Versions extends readonly ApiVersion[] } ? Versions : readonly []
  readonly sorted: Own extends { sorted: infer Orders extends Traits['sorted'] } ? Orders : false
}

const TRAITS = {
  required: false,
  default: null,
  versions: ['v3', 'v4'],
  scored: false,
  filtered: [],
  sorted: false,
} as const

const made = <Name extends Kind, Own>(field: Of<Name>) => field as Made<Name, Own>

/** A text of 1 to `to` characters. */
export const text = <const Own extends Options & { to: number }>(own: Own) =>
  made<'text', Own>({ ...TRAITS, kind: 'text', ...own })

export const amount = <const Own extends Options & Bounds>(own: Own) =>
  made<'amount', Own>({ ...TRAITS, kind: 'amount', ...own })

/** Yes or no, and no until it is said. */
export const flag = <const Own extends Options>(own?: Own) =>
  made<'flag', Own>({ ...TRAITS, kind: 'flag', default: false, ...own })

/** A cut shape. v4 shows its title; v3 knows the top level only. */
export const shape = <const Own extends Options & { to: number }>(own: Own) =>
  made<'shape', Own>({ ...TRAITS, kind: 'shape', ...own })

/** An entry of a dictionary. v3 reads and shows its id; v4 reads any form of it and shows its title, or the short form. */
export const entry = <Of extends Dictionary, const Own extends Options & { shown?: 'short' }>(of: Of, own?: Own) => ({
  ...made<'entry', Own>({ ...TRAITS, kind: 'entry', shown: 'title', dictionary: of, ...own }),
  dictionary: of,
})

/** A grading without ids. */
export const scale = <const Own extends Options>(of: Scale, own?: Own) =>
  made<'scale', Own>({ ...TRAITS, kind: 'scale', scale: of, ...own })

/** How much others may see: 0, the least, until it is said. */
export const level = <const Own extends Options>(own?: Own) =>
  made<'level', Own>({ ...TRAITS, kind: 'level', default: 0, ...own })
