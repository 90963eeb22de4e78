import { z } from 'zod'
import { FACTS, LABORATORIES } from '../../domain/certification/certification.ts'
import { isShapeId } from '../../domain/dictionaries/shapes.ts'
import { first, type EventSchema } from './event-schema.ts'
import { digest } from './file-digest.ts'
import { withFinerMeasures, withReadingOfAll, withUnclearFacts } from './report-read.ts'

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
