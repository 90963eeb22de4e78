import { z } from 'zod'
import { FACTS, LABORATORIES } from '../../domain/certification/certification.ts'
import { isShapeId } from '../../domain/dictionaries/shapes.ts'
import { first, type EventSchema, type Payload } from './event-schema.ts'

/** What names the bytes of a file in events. */
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the file')

/** What readings of the first releases did not look for. */
const NOT_LOOKED_FOR_IN_1 = { laboratory: null, shape: null, isLabGrown: null } as const

/**
 * ReportRead from version 1 to 2. A reading says null of what it did not find, whether or not it was looked for; in
 * version 1 it might say nothing. `mismatches`, which named what was found to be otherwise then, in two of five fields,
 * goes: whether report and stone fit follows from both, at any time.
 */
function withReadingOfAll({ mismatches: _mismatches, ...data }: Payload): Payload {
  const { reading } = data
  // What is no reading at all is for the schema to refuse.
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { ...NOT_LOOKED_FOR_IN_1, ...reading } }
}

/** What readings up to version 2 did not look for. */
const NOT_LOOKED_FOR_IN_2 = { girdle: null, star: null, lower: null } as const

/** ReportRead from version 2 to 3, which looks for the girdle's thickness and the lengths of stars and lower halves. */
function withFinerMeasures(data: Payload): Payload {
  const { reading } = data
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { ...NOT_LOOKED_FOR_IN_2, ...reading } }
}

/** ReportRead from version 3 to 4, which names what a report says in several ways. */
function withUnclearFacts(data: Payload): Payload {
  const { reading } = data
  if (typeof reading !== 'object' || reading === null) return data
  return { ...data, reading: { unclear: [], ...reading } }
}

const id = z.int().min(1).describe('id of the certification')
const positive = z.number().positive()

const reading = z.object({
  number: z.string().nullable(),
  carat: positive.nullable().describe('weight in carats'),
  measurements: z.object({ length: positive, width: positive, depth: positive }).nullable().describe('millimetres'),
  table: positive.nullable().describe('percent of the mean diameter or the width'),
  depth: positive.nullable().describe('percent, likewise'),
  crownAngle: positive.nullable().describe('degrees'),
  pavilionAngle: positive.nullable().describe('degrees'),
  girdle: positive.nullable().describe('percent of the mean diameter or the width'),
  star: positive.nullable().describe("star length, percent of the way from the table's edge to the girdle"),
  lower: positive.nullable().describe('length of the lower halves, percent of the way from the girdle to the culet'),
  laboratory: z.enum(LABORATORIES).nullable(),
  shape: z.int().refine(isShapeId, "this release's dictionary of cut shapes has no such id").nullable(),
  isLabGrown: z.boolean().nullable(),
  unclear: z
    .array(z.enum(FACTS))
    .describe(
      'members that are null because their value stands near several labels, or because the report says several values',
    ),
})

const reportRead = z.object({ certification: id, reading })

export const certificationSchemas = {
  CertificationAttached: first(
    z.object({
      id,
      laboratory: z.enum(LABORATORIES),
      number: z.string().nullable().describe('as its owner says'),
      file: z.object({ digest, bytes: z.int().min(1), name: z.string().nullable() }).nullable(),
    }),
  ),
  CertificationRemoved: first(z.object({ id, digest: digest.nullable() })),
  ReportRead: {
    version: 4,
    payload: reportRead,
    upcasters: [withReadingOfAll, withFinerMeasures, withUnclearFacts],
  } satisfies EventSchema<typeof reportRead>,
}
