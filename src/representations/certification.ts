import { z } from 'zod'
import {
  LABORATORIES,
  type Certification,
  type CertificationInput,
  type Laboratory,
} from '../domain/certification/certification.ts'
import { reportPage } from '../domain/certification/page-cells.ts'
import { comparedText } from '../domain/visible-text.ts'
import { LASTS, readText, type LinkMaker, type Parsed } from './json.ts'
import { assigned, DIAMOND_ID, must, objectOf, parse, readBy } from './parse.ts'

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
export function certificationText(
  { id, laboratory, number, file }: Omit<Certification, 'reading'>,
  revision: number,
  links: LinkMaker,
  warnings: readonly string[] = [],
): string {
  const url = JSON.stringify(reportPage(laboratory, number))
  const link = file === null ? 'null' : `"${links.signed(filePath(id), LASTS.aDay, revision)}"`
  const warned = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}${warned}}`
}

/** Where a certification's PDF is; a signature behind it opens it. */
export const filePath = (id: number) => `/v4/certification/${id}/file`

/** Characters of a laboratory's name that are looked at. */
const NAME_READ = 100

/** In any case, as the words of dictionaries are. */
function laboratoryOf(text: string): Laboratory | undefined {
  const name = comparedText(text.slice(0, NAME_READ))
  return LABORATORIES.find((laboratory) => comparedText(laboratory) === name)
}

/** Characters of a report's number at most. */
const NUMBER_MAX = 64
const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

/** A report's number without the blanks around it; undefined for what is none. */
function numberOf(given: string): string | undefined {
  const text = readText(given, NUMBER_MAX)
  return text !== undefined && PRINTABLE.test(text) ? text : undefined
}

const LABORATORY_RIGHT = `one of ${LABORATORIES.join(', ')}`
const NUMBER_RIGHT = `a text of 1 to ${NUMBER_MAX} printable characters`

/** A certification to attach; the parts of a form have the same names. null is the same as absent. */
export const NEW_CERTIFICATION = objectOf(
  {
    product: DIAMOND_ID.meta({ examples: [53_940] }),
    laboratory: readBy(
      z.union([LABORATORY, z.string()], must(LABORATORY_RIGHT, `is required: ${LABORATORY_RIGHT}`)),
      laboratoryOf,
      LABORATORY_RIGHT,
    ).meta({ examples: ['GIA'] }),
    number: readBy(z.string(must(NUMBER_RIGHT)).meta({ maxLength: NUMBER_MAX }), numberOf, NUMBER_RIGHT)
      .nullish()
      .describe("The report's number.")
      .meta({ examples: ['2141438171'] }),
    ...assigned(['id', 'url', 'warnings']),
    file: z
      .unknown()
      .optional()
      .describe('In a multipart form: the report, a PDF of at most 10 MB. In JSON it is ignored.'),
  },
  'a certification',
)
  .transform(({ product, laboratory, number = null }): CertificationInput => ({ diamond: product, laboratory, number }))
  .meta({ id: 'NewCertification' })

const NAMED = { of: 'a certification', known: ['product', 'laboratory', 'number', 'file'] }

/** A certification to attach, from a request's JSON or from the text parts of a form. */
export const readCertification = (input: unknown): Parsed<CertificationInput> => parse(NEW_CERTIFICATION, input, NAMED)

/**
 * A form has only texts: its integer is read here, and an empty number is none.
 * @param parts the text parts of a form, by name
 */
export function fromForm(parts: ReadonlyMap<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = Object.fromEntries(parts)
  const text = parts.get('product')
  if (text !== undefined && /^\s*\d{1,16}\s*$/.test(text)) input['product'] = Number(text)
  if (parts.get('number') === '') input['number'] = null
  return input
}
