import { Router } from '@koa/router'
import type { Certifying } from '../../commands/certifications/attach-certification.ts'
import type { CertificationQueries } from '../../projections/certifications/certification-queries.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import type { Files } from '../../stores/ports/files.ts'
import { PRIVATE, type Resource } from '../kit/app.ts'
import type { Links } from '../kit/links.ts'
import type { RequestState, Step } from '../kit/request.ts'
import { attachReport } from './attach.ts'
import { sendFile } from './file.ts'
import { removeReport } from './remove.ts'
import { readUpload } from './upload/upload.ts'

export type CertificationService = {
  readonly certifying: Certifying
  readonly certifications: CertificationQueries
  readonly queries: DiamondQueries
  readonly files: Files
  readonly links: Links
  readonly authenticate: Step
  /** Milliseconds without a byte after which an upload is given up. */
  readonly stall?: number
}

/** The Certification API, v4: a report is attached and removed; its file is for whoever has the link. */
export function certificationResource(service: CertificationService): Resource {
  const { authenticate, files, stall } = service
  const prefix = '/v4/certification'
  const router = new Router<RequestState>()
  const upload = readUpload({ files, ...(stall !== undefined && { stall }) })
  router.post(prefix, authenticate, upload, attachReport(service))
  router.delete(`${prefix}/:id`, authenticate, removeReport(service))
  router.get(`${prefix}/:id/file`, sendFile(service))
  return { prefix, router, headers: PRIVATE }
}
