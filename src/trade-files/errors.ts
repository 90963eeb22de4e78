/** Names or numbers in a message, which is limited to the first ten. */
export const listFirst = (names: readonly (string | number)[]): string =>
  names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ' and others' : '')

const MAX_LISTED = 10

/** A file that cannot be read as a list of stones. The message names the file, and how it can be converted. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/**
 * The file, together with the rules to read it, leaves open what it means: unknown or ambiguous columns, ambiguous numbers, a sheet
 * that does not exist. The message names the places and the rule that decides.
 */
export class UnclearFile extends Error {
  override readonly name = 'UnclearFile'
}
