/** A clock that stands still: milliseconds since 1970, of 2027-01-15T08:00:00Z. */
export const fixedClock = (): number => 1_800_000_000_000
