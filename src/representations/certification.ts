import { z } from 'zod'
import {
  LABORATORIES,
  type Certification,
  type CertificationInput,
  type Laboratory,
} from '../domain/certification/certification.ts'
import { reportCheckUrl } from '../domain/certification/page-cells.ts'
import { comparisonKey } from '../domain/visible-text.ts'
import { LINK_LIFETIMES, parseText, type LinkBuilder, type ParseResult } from './json.ts'
import { assignedMembers, DIAMOND_ID, mustBe, objectSchema, parseInput, parsedBy } from './parse.ts'

const LABORATORY = z.enum(LABORATORIES).meta({ id: 'Laboratory' })

/** A certification as it is shown. */
export const CERTIFICATION = z
  .object({
    id: z.int(),
    laboratory: LABORATORY,
    number: z.string().nullable(),
    url: z.string().nullable().describe("The report's page at its laboratory; null where none is known."),
    file: z.string().nullable().describe('The uploaded report; opens for a day, for anyone who has the address.'),
    warnings: z.array(z.string()).optional().describe('What of the report contradicts the stone; absent without any.'),
  })
  .meta({ id: 'Certification' })

/**
 * A certification's JSON text.
 * @param revision of its stone's access, to which the file's link is bound
 * @param warnings of contradictions.ts: a member that is there only where there are any
 */
export function certificationJson(
  { id, laboratory, number, file }: Omit<Certification, 'reading'>,
  revision: number,
  links: LinkBuilder,
  warnings: readonly string[] = [],
): string {
  const url = JSON.stringify(reportCheckUrl(laboratory, number))
  const link = file === null ? 'null' : `"${links.signed(certificationFilePath(id), LINK_LIFETIMES.oneDay, revision)}"`
  const warned = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}${warned}}`
}

/** Where a certification's PDF is; a signature behind it opens it. */
export const certificationFilePath = (id: number) => `/v4/certification/${id}/file`

/** Characters of a laboratory's name that are looked at. */
const NAME_READ = 100

/** In any case, as the words of dictionaries are. */
function parseLaboratory(text: string): Laboratory | undefined {
  const name = comparisonKey(text.slice(0, NAME_READ))
  return LABORATORIES.find((laboratory) => comparisonKey(laboratory) === name)
}

/** Characters of a report's number at most. */
const NUMBER_MAX = 64
const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

/** A report's number without the blanks around it; undefined for what is none. */
function parseReportNumber(given: string): string | undefined {
  const text = parseText(given, NUMBER_MAX)
  return text !== undefined && PRINTABLE.test(text) ? text : undefined
}

const LABORATORY_RIGHT = `one of ${LABORATORIES.join(', ')}`
const NUMBER_RIGHT = `a text of 1 to ${NUMBER_MAX} printable characters`

/** A certification to attach; the parts of a form have the same names. null is the same as absent. */
export const NEW_CERTIFICATION = objectSchema(
  {
    product: DIAMOND_ID.meta({ examples: [53_940] }),
    laboratory: parsedBy(
      z.union([LABORATORY, z.string()], mustBe(LABORATORY_RIGHT, `is required: ${LABORATORY_RIGHT}`)),
      parseLaboratory,
      LABORATORY_RIGHT,
    ).meta({ examples: ['GIA'] }),
    number: parsedBy(z.string(mustBe(NUMBER_RIGHT)).meta({ maxLength: NUMBER_MAX }), parseReportNumber, NUMBER_RIGHT)
      .nullish()
      .describe("The report's number.")
      .meta({ examples: ['2141438171'] }),
    ...assignedMembers(['id', 'url', 'warnings']),
    file: z
      .unknown()
      .optional()
      .describe('In a multipart form: the report, a PDF of at most 10 MB. In JSON it is ignored.'),
  },
  'a certification',
)
  .transform(({ product, laboratory, number = null }): CertificationInput => ({ diamond: product, laboratory, number }))
  .meta({ id: 'NewCertification' })

const CERTIFICATION_OBJECT = { of: 'a certification', known: ['product', 'laboratory', 'number', 'file'] }

/** A certification to attach, from a request's JSON or from the text parts of a form. */
export const parseCertification = (input: unknown): ParseResult<CertificationInput> =>
  parseInput(NEW_CERTIFICATION, input, CERTIFICATION_OBJECT)

/**
 * A form has only texts: its integer is read here, and an empty number is none.
 * @param parts the text parts of a form, by name
 */
export function certificationFromForm(parts: ReadonlyMap<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = Object.fromEntries(parts)
  const text = parts.get('product')
  if (text !== undefined && /^\s*\d{1,16}\s*$/.test(text)) input['product'] = Number(text)
  if (parts.get('number') === '') input['number'] = null
  return input
}
