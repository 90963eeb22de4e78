import type { ApiVersion } from '../../domain/diamond/field.ts'
import { fieldsOf, type DiamondFieldChanges, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { ParseResult } from '../json.ts'
import { parseInput } from '../parse.ts'
import { IDENTIFIED_FIELD_CHANGES, DIAMOND_CHANGES, NEW_DIAMOND } from './schemas.ts'

const objectNamesOf = (version: ApiVersion) => ({ of: `a ${version} diamond`, known: fieldsOf(version) })

/** What a bulk request changes of one diamond. */
export type IdentifiedFieldChanges = { readonly id: number; readonly change: DiamondFieldChanges }

/**
 * A diamond to create, from a request's JSON in v3 or v4 form.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 */
export const parseNewDiamond = (version: ApiVersion, input: unknown, at: string): ParseResult<NewDiamond> =>
  parseInput(NEW_DIAMOND[version], input, objectNamesOf(version), at)

/** A change of a diamond: what is absent stays, null goes back to the default, and what is required can't be removed. */
export const parseFieldChanges = (version: ApiVersion, input: unknown, at: string): ParseResult<DiamondFieldChanges> =>
  parseInput(DIAMOND_CHANGES[version], input, objectNamesOf(version), at)

/** A change with the id of its diamond. */
export const parseIdentifiedFieldChanges = (
  version: ApiVersion,
  input: unknown,
  at: string,
): ParseResult<IdentifiedFieldChanges> =>
  parseInput(IDENTIFIED_FIELD_CHANGES[version], input, objectNamesOf(version), at)
