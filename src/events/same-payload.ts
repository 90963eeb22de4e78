/**
 * Whether a type and what a schema lets through have the same members, down to the last one. Assignability alone would
 * not tell: a schema that lacks an optional member fits its type, and strips that member from every event.
 */
export type Same<A, B> = [Shape<A>] extends [Shape<B>] ? ([Shape<B>] extends [Shape<A>] ? true : false) : false

/** A type with its optional members apart, and without what does not survive JSON: readonly, undefined. */
type Shape<Type> = Type extends string | number | boolean | null | undefined
  ? Type
  : Type extends readonly (infer Element)[]
    ? readonly Shape<Element>[]
    : {
        readonly required: { readonly [Name in Required<Type>]: Shape<Type[Name]> }
        readonly optional: { readonly [Name in Optional<Type>]: Shape<Exclude<Type[Name], undefined>> }
      }

type Optional<Type> = { [Name in keyof Type]-?: object extends Pick<Type, Name> ? Name : never }[keyof Type]
type Required<Type> = Exclude<keyof Type, Optional<Type>>
