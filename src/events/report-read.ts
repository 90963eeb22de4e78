import type { Payload } from './event-schema.ts'

/** What readings of the first releases did not look for. */
const NOT_LOOKED_FOR = { laboratory: null, shape: null, isLabGrown: null } as const

/**
 * ReportRead from version 1 to 2. A reading says null of what it did not find, whether or not it was looked for; in
 * version 1 it might say nothing. `mismatches`, which named what was found to be otherwise then, in two of five fields,
 * goes: whether report and stone fit follows from both, at any time.
 */
export function withReadingOfAll({ mismatches: _mismatches, ...data }: Payload): Payload {
  const { reading } = data
  // What is no reading at all is for the schema to refuse.
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { ...NOT_LOOKED_FOR, ...reading } }
}
