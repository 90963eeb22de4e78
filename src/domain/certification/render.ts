import { ADDRESS, SIGNED } from '../diamond/placeholders.ts'
import type { Certification } from './certification.ts'
import { reportPage } from './report-page.ts'

/** A certification's JSON text, with the placeholders of a stored body. */
export function renderCertification({ id, laboratory, number, file }: Omit<Certification, 'reading'>): string {
  const url = JSON.stringify(reportPage(laboratory, number))
  const link = file === null ? 'null' : `"${ADDRESS}${filePath(id)}${SIGNED}"`
  return `{"id":${id},"laboratory":"${laboratory}","number":${JSON.stringify(number)},"url":${url},"file":${link}}`
}

/** Where a certification's PDF is; a signature behind it opens it. */
export const filePath = (id: number) => `/v4/certification/${id}/file`
