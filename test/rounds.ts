/**
 * How often a randomised test repeats: `short` times, or `long` times in the long form (ADAMANT_FULL=1).
 * ADAMANT_ROUNDS overrides both, so that a long form can be run in parts.
 */
export function rounds(short: number, long: number): number {
  const { ADAMANT_FULL, ADAMANT_ROUNDS } = process.env
  if (ADAMANT_ROUNDS !== undefined) return Number(ADAMANT_ROUNDS)
  return ADAMANT_FULL === '1' ? long : short
}
