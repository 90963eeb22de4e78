import type { Dictionary } from '../dictionaries/dictionary.ts'
import type { GradingScale } from '../dictionaries/girdle-and-culet.ts'

export type ApiVersion = 'v3' | 'v4'

/** 0, 1 or 2: how much others may see. */
type AccessLevel = 0 | 1 | 2

/** The stored value by kind of field. Dictionary fields are stored as ids, whatever the input format. */
type FieldValues = {
  text: string
  amount: number
  flag: boolean
  /** An id of the tree of cut shapes, or the text as written if it is not in the dictionary. */
  shape: number | string
  entry: number
  /** The title or the short form of a grade without an id. */
  scale: string
  level: AccessLevel
}

type FieldAttributes = {
  /** Required on create, and cannot be removed. */
  readonly required: boolean
  /** The value until the field is set, and after null resets it. null and unused for required fields. */
  readonly default: null | false | 0
  /** The API versions in which the field can be read and written. */
  readonly versions: readonly ApiVersion[]
  /** An input of the scores: a change makes them outdated. */
  readonly scored: boolean
  /** The API versions whose lists can be filtered by it. A field that v3 filters by has an index. */
  readonly filtered: readonly ApiVersion[]
  /** The sort orders of v4 lists by this field; each has an index. */
  readonly sorted: 'both ways' | 'ascending' | false
}

/** Range of an amount: greater than `over`, at least `from`, at most `to`. */
export type AmountRange = { readonly over?: number; readonly from?: number; readonly to?: number }

export type FieldDefinition = FieldAttributes &
  (
    | { readonly kind: 'text'; /** Maximum length in code points. */ readonly to: number }
    | ({ readonly kind: 'amount' } & AmountRange)
    | { readonly kind: 'flag' }
    | { readonly kind: 'shape'; /** Maximum length of a text outside the dictionary. */ readonly to: number }
    | { readonly kind: 'entry'; readonly dictionary: Dictionary; readonly shown: 'title' | 'short' }
    | { readonly kind: 'scale'; readonly scale: GradingScale }
    | { readonly kind: 'level' }
  )

type FieldKind = FieldDefinition['kind']
type FieldOfKind<Name extends FieldKind> = Extract<FieldDefinition, { kind: Name }>

export type FieldValueOf<Definition extends FieldDefinition> =
  | FieldValues[Definition['kind']]
  | (Definition extends { readonly required: true } | { readonly kind: 'flag' | 'level' } ? never : null)

type FieldOptions = Partial<Omit<FieldAttributes, 'default'>>

/** The type of a field made by the constructors below: keeps `required`, `filtered` and `sorted` as literal types. */
type DeclaredField<Name extends FieldKind, Options> = FieldOfKind<Name> & {
  readonly required: Options extends { required: true } ? true : false
  readonly filtered: Options extends { filtered: infer Versions extends readonly ApiVersion[] } ? Versions : readonly []
  readonly sorted: Options extends { sorted: infer Orders extends FieldAttributes['sorted'] } ? Orders : false
}

const DEFAULT_ATTRIBUTES = {
  required: false,
  default: null,
  versions: ['v3', 'v4'],
  scored: false,
  filtered: [],
  sorted: false,
} as const

const defineField = <Name extends FieldKind, Options>(field: FieldOfKind<Name>) => field as DeclaredField<Name, Options>

export const text = <const Options extends FieldOptions & { to: number }>(options: Options) =>
  defineField<'text', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'text', ...options })

export const amount = <const Options extends FieldOptions & AmountRange>(options: Options) =>
  defineField<'amount', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'amount', ...options })

export const flag = <const Options extends FieldOptions>(options?: Options) =>
  defineField<'flag', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'flag', default: false, ...options })

/** A cut shape. v4 shows its title, v3 the id of its top-level shape. */
export const shape = <const Options extends FieldOptions & { to: number }>(options: Options) =>
  defineField<'shape', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'shape', ...options })

/** A dictionary entry. v3 reads and shows its id; v4 reads any form and shows the title, or the short form if `shown` says so. */
export const entry = <EntryDictionary extends Dictionary, const Options extends FieldOptions & { shown?: 'short' }>(
  dictionary: EntryDictionary,
  options?: Options,
) => ({
  ...defineField<'entry', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'entry', shown: 'title', dictionary, ...options }),
  dictionary,
})

export const scale = <const Options extends FieldOptions>(gradingScale: GradingScale, options?: Options) =>
  defineField<'scale', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'scale', scale: gradingScale, ...options })

/** An access level, 0 (most restrictive) by default. */
export const level = <const Options extends FieldOptions>(options?: Options) =>
  defineField<'level', Options>({ ...DEFAULT_ATTRIBUTES, kind: 'level', default: 0, ...options })
