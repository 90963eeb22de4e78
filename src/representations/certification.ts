import { z } from 'zod'
import { LABORATORIES, type Certification } from '../domain/certification/certification.ts'
import { reportPage } from '../domain/certification/report-page.ts'
import { LASTS, type LinkMaker } from './links.ts'

export const LABORATORY = z.enum(LABORATORIES).meta({ id: 'Laboratory' })

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
