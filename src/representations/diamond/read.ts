import type { ApiVersion } from '../../domain/diamond/field.ts'
import { fieldsOf, type Change, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { Parsed } from '../json.ts'
import { parse } from '../parse.ts'
import { CHANGES_OF_ONE, DIAMOND_CHANGES, NEW_DIAMOND } from './schemas.ts'

const named = (version: ApiVersion) => ({ of: `a ${version} diamond`, known: fieldsOf(version) })

/** What a bulk request changes of one diamond. */
export type ChangesOfOne = { readonly id: number; readonly change: Change }

/**
 * A diamond to create, from a request's JSON in v3 or v4 form.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 */
export const readNewDiamond = (version: ApiVersion, input: unknown, at: string): Parsed<NewDiamond> =>
  parse(NEW_DIAMOND[version], input, named(version), at)

/** A change of a diamond: what is absent stays, null goes back to the default, and what is required can't be removed. */
export const readChange = (version: ApiVersion, input: unknown, at: string): Parsed<Change> =>
  parse(DIAMOND_CHANGES[version], input, named(version), at)

/** A change with the id of its diamond. */
export const readChangesOfOne = (version: ApiVersion, input: unknown, at: string): Parsed<ChangesOfOne> =>
  parse(CHANGES_OF_ONE[version], input, named(version), at)
