import type { Payload } from './event-schema.ts'

/** What readings of the first releases did not look for. */
const NOT_LOOKED_FOR_IN_1 = { laboratory: null, shape: null, isLabGrown: null } as const

/**
 * ReportRead from version 1 to 2. A reading says null of what it did not find, whether or not it was looked for; in
 * version 1 it might say nothing. `mismatches`, which named what was found to be otherwise then, in two of five fields,
 * goes: whether report and stone fit follows from both, at any time.
 */
export function withReadingOfAll({ mismatches: _mismatches, ...data }: Payload): Payload {
  const { reading } = data
  // What is no reading at all is for the schema to refuse.
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { ...NOT_LOOKED_FOR_IN_1, ...reading } }
}

/** What readings up to version 2 did not look for. */
const NOT_LOOKED_FOR_IN_2 = { girdle: null, star: null, lower: null } as const

/** ReportRead from version 2 to 3, which looks for the girdle's thickness and the lengths of stars and lower halves. */
export function withFinerMeasures(data: Payload): Payload {
  const { reading } = data
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { ...NOT_LOOKED_FOR_IN_2, ...reading } }
}

/** ReportRead from version 3 to 4, which names what a report says in several ways. */
export function withUnclearFacts(data: Payload): Payload {
  const { reading } = data
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { unclear: [], ...reading } }
}
