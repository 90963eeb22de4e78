import { z } from 'zod'
import { LABORATORIES } from '../../domain/certification/certification.ts'
import { FILE_LIMIT } from './upload/pdf-check.ts'

const laboratory = z.enum(LABORATORIES).describe('The laboratory that graded the stone.')

/** A certification as it is answered. */
export const Certification = z
  .object({
    id: z.int(),
    laboratory,
    number: z.string().nullable().describe("The report's number."),
    url: z.string().nullable().describe('The page of the laboratory that shows the report; null where none is known.'),
    file: z.string().nullable().describe('A link that opens the PDF for a day, for whoever has it; null without one.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('What the report says otherwise than the stone; absent where nothing.'),
  })
  .meta({
    example: {
      id: 12,
      laboratory: 'GIA',
      number: '2141438171',
      url: 'https://www.gia.edu/report-check?reportno=2141438171',
      file: null,
    },
  })

/** The parts of a form, or the members of a JSON object; only a form has a file. */
export const CertificationParts = z.object({
  product: z.int().min(1).describe('The id of the diamond.'),
  laboratory,
  number: z.string().max(64).nullish().describe("The report's number."),
  file: z.file().max(FILE_LIMIT).optional().describe('The report: a PDF, in multipart alone.'),
})
