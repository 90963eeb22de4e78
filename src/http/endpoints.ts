import { attachReport } from './certifications/attach.ts'
import { readReportFile } from './certifications/file.ts'
import { removeReport } from './certifications/remove.ts'
import type { CertificationServices } from './certifications/service.ts'
import { listCutShapes, readConstants, readCutShape } from './constants/constants.ts'
import { isLive, isReady, type HealthServices } from './health/health.ts'
import { readMetrics, type MetricsServices } from './health/metrics.ts'
import type { Bearer } from './kit/authenticate.ts'
import type { Endpoint } from './kit/endpoint.ts'
import { readPicture, readReportPage, type ReportServices } from './report/report.ts'

/** What requests are answered from, by subject. */
export type Services = { readonly bearer: Bearer } & CertificationServices &
  ReportServices &
  HealthServices &
  MetricsServices

/** All that the service can be asked for over HTTP. */
export const ENDPOINTS: readonly Endpoint<Services>[] = [
  attachReport,
  removeReport,
  readReportFile,
  readReportPage,
  readPicture,
  readConstants,
  listCutShapes,
  readCutShape,
  isLive,
  isReady,
  readMetrics,
]
