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
import {
  DIAMOND_ID,
  assignedMembers,
  exampleObject,
  mustBe,
  objectSchema,
  parseInput,
  parsedBy,
  textFaultCode,
} from './parse.ts'

const LABORATORY = z.enum(LABORATORIES).meta({ id: 'Laboratory' })

export const CERTIFICATION = z
  .object({
    id: z.int(),
    laboratory: LABORATORY,
    number: z.string().nullable(),
    url: z.string().nullable().describe("The report on the laboratory's website; null if unknown."),
    file: z.string().nullable().describe('Link to the uploaded report, valid for one day for anyone who has it.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Contradictions between the report and the diamond; absent if there are none.'),
  })
  .meta({ id: 'Certification' })

/**
 * Writes a certification as JSON.
 * @param revision of the diamond's access settings; the file's link is valid for this revision only
 * @param warnings from contradictions.ts; the member is omitted if empty
 */
export function certificationJson(
  { id, laboratory, number, file }: Omit<Certification, 'reading'>,
  revision: number,
  links: LinkBuilder,
  warnings: readonly string[] = [],
): string {
  const url = JSON.stringify(reportCheckUrl(laboratory, number))
  const link = file === null ? 'null' : `"${links.signed(certificationFilePath(id), LINK_LIFETIMES.oneDay, revision)}"`
  const warningsMember = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}${warningsMember}}`
}

/** The path of a certification's PDF, to which a signature is added. */
export const certificationFilePath = (id: number) => `/v4/certification/${id}/file`

const MAX_NAME_LENGTH = 100

/** Case-insensitive, like dictionary look-ups. */
function parseLaboratory(text: string): Laboratory | undefined {
  const name = comparisonKey(text.slice(0, MAX_NAME_LENGTH))
  return LABORATORIES.find((laboratory) => comparisonKey(laboratory) === name)
}

const MAX_NUMBER_LENGTH = 64
const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

/** Trims a report number; returns undefined if it is invalid. */
function parseReportNumber(given: string): string | undefined {
  const text = parseText(given, MAX_NUMBER_LENGTH)
  return text !== undefined && PRINTABLE.test(text) ? text : undefined
}

const EXPECTED_LABORATORY = `one of ${LABORATORIES.join(', ')}`
const EXPECTED_NUMBER = `a string of 1 to ${MAX_NUMBER_LENGTH} printable characters`

const NEW_CERTIFICATION_MEMBERS = {
  product: DIAMOND_ID,
  laboratory: parsedBy(
    z.union([LABORATORY, z.string()], mustBe(EXPECTED_LABORATORY, `is required: ${EXPECTED_LABORATORY}`)),
    parseLaboratory,
    EXPECTED_LABORATORY,
    'unknown_value',
  ).meta({ examples: ['GIA'] }),
  number: parsedBy(
    z.string(mustBe(EXPECTED_NUMBER)).meta({ maxLength: MAX_NUMBER_LENGTH }),
    parseReportNumber,
    EXPECTED_NUMBER,
    textFaultCode(MAX_NUMBER_LENGTH),
  )
    .nullish()
    .describe("The report's number.")
    .meta({ examples: ['2141438171'] }),
  ...assignedMembers(['id', 'url', 'warnings']),
  file: z
    .unknown()
    .optional()
    .describe('In a multipart form: the report, a PDF of at most 10 MB. In JSON it is ignored.'),
}

/** A certification to attach, as JSON or as the parts of a form. null means absent. */
export const NEW_CERTIFICATION = objectSchema(NEW_CERTIFICATION_MEMBERS, 'a certification')
  .transform(({ product, laboratory, number = null }): CertificationInput => ({ diamond: product, laboratory, number }))
  .meta({ id: 'NewCertification', examples: [exampleObject(NEW_CERTIFICATION_MEMBERS)] })

const CERTIFICATION_OBJECT = { name: 'a certification', members: ['product', 'laboratory', 'number', 'file'] }

/** @param input a request's JSON, or the result of `certificationFromForm` */
export const parseCertification = (input: unknown): ParseResult<CertificationInput> =>
  parseInput(NEW_CERTIFICATION, input, CERTIFICATION_OBJECT)

/**
 * Converts a form's text parts: `product` to an integer, an empty `number` to null.
 * @param parts by name
 */
export function certificationFromForm(parts: ReadonlyMap<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = Object.fromEntries(parts)
  const text = parts.get('product')
  if (text !== undefined && /^\s*\d{1,16}\s*$/.test(text)) input['product'] = Number(text)
  if (parts.get('number') === '') input['number'] = null
  return input
}
