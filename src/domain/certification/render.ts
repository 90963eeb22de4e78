import { LASTS, signedLink } from '../diamond/placeholders.ts'
import type { Certification } from './certification.ts'
import { reportPage } from './report-page.ts'

/**
 * A certification's JSON text, with the placeholders of a stored body.
 * @param revision of its stone's access, which the file's link is bound to
 * @param warnings of contradictions.ts: a member that is there only where there are any
 */
export function renderCertification(
  { id, laboratory, number, file }: Omit<Certification, 'reading'>,
  revision: number,
  warnings: readonly string[] = [],
): string {
  const url = JSON.stringify(reportPage(laboratory, number))
  const link = file === null ? 'null' : `"${signedLink(filePath(id), LASTS.aDay, revision)}"`
  const warned = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}${warned}}`
}

/** Where a certification's PDF is; a signature behind it opens it. */
export const filePath = (id: number) => `/v4/certification/${id}/file`
