import { z } from 'zod'
import { LABORATORIES } from '../domain/certification/certification.ts'
import { ASSIGNED, NUMBER_MAX, readLaboratory, readNumber } from './certification.ts'

const LABORATORY = z.enum(LABORATORIES).meta({ id: 'Laboratory' })

/** A certification as it is shown. */
export const CERTIFICATION = z
  .object({
    id: z.int(),
    laboratory: LABORATORY,
    number: z.string().nullable(),
    url: z.string().nullable().describe("The report's page at its laboratory; null where none is known."),
    file: z.string().nullable().describe('The uploaded report; opens for a day, for whoever has the address.'),
    warnings: z.array(z.string()).optional().describe('What of the report contradicts the stone; absent without any.'),
  })
  .meta({ id: 'Certification' })

const assigned = Object.fromEntries(
  [...ASSIGNED].map((name) => [name, z.unknown().optional().describe('Assigned by the service; ignored here.')]),
)

/** A certification to attach: it accepts of a JSON object what its reader accepts. The parts of a form have the same names. */
export const NEW_CERTIFICATION = z
  .strictObject({
    product: z
      .int()
      .min(1)
      .describe('The id of the diamond.')
      .meta({ examples: [53_940] }),
    laboratory: z
      .union([LABORATORY, z.string()])
      .refine((text) => readLaboratory(text) !== undefined)
      .meta({ examples: ['GIA'] }),
    number: z
      .string()
      .refine((text) => readNumber(text) !== undefined)
      .nullish()
      .describe("The report's number.")
      .meta({ maxLength: NUMBER_MAX, examples: ['2141438171'] }),
    ...assigned,
    file: z
      .unknown()
      .optional()
      .describe('In a multipart form: the report, a PDF of at most 10 MB. In JSON it is ignored.'),
  })
  .meta({ id: 'NewCertification' })
