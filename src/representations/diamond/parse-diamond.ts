import type { ApiVersion } from '../../domain/diamond/field.ts'
import { fieldsOf, type DiamondFieldChanges, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { ParseResult } from '../json.ts'
import { lettersOf, parseInput } from '../parse.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './field-descriptions.ts'
import { IDENTIFIED_FIELD_CHANGES, DIAMOND_CHANGES, NEW_DIAMOND } from './schemas.ts'

/** Fields by their headings in spreadsheets of the trade; of several fields with the same letters, the first. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries<FieldDescription>(FIELD_DESCRIPTIONS)
    .flatMap(([field, { headings = [] }]) => headings.map((heading): [string, string] => [lettersOf(heading), field]))
    .toReversed(),
)

const objectNamesOf = (version: ApiVersion) => ({
  name: `a ${version} diamond`,
  members: fieldsOf(version),
  synonyms: SYNONYMS,
})

export type IdentifiedFieldChanges = { readonly id: number; readonly change: DiamondFieldChanges }

/**
 * Parses a diamond to create, in v3 or v4 form.
 * @param at JSON Pointer to `input` in the body; '' for the body itself
 */
export const parseNewDiamond = (version: ApiVersion, input: unknown, at: string): ParseResult<NewDiamond> =>
  parseInput(NEW_DIAMOND[version], input, objectNamesOf(version), at)

/**
 * Parses changes to a diamond. Absent members are left unchanged; null resets to the default and is an error for
 * required fields.
 */
export const parseFieldChanges = (version: ApiVersion, input: unknown, at: string): ParseResult<DiamondFieldChanges> =>
  parseInput(DIAMOND_CHANGES[version], input, objectNamesOf(version), at)

export const parseIdentifiedFieldChanges = (
  version: ApiVersion,
  input: unknown,
  at: string,
): ParseResult<IdentifiedFieldChanges> =>
  parseInput(IDENTIFIED_FIELD_CHANGES[version], input, objectNamesOf(version), at)
