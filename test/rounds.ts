/**
 * How often a test repeats what chance decides: `short` times, and `long` times in the long forms (ADAMANT_FULL=1).
 * ADAMANT_ROUNDS is another number, so that a long form can be run in pieces.
 */
export function rounds(short: number, long: number): number {
  const { ADAMANT_FULL, ADAMANT_ROUNDS } = process.env
  if (ADAMANT_ROUNDS !== undefined) return Number(ADAMANT_ROUNDS)
  return ADAMANT_FULL === '1' ? long : short
}
