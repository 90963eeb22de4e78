import { Counter } from 'prom-client'
import { IdAllocator } from '../commands/installation/id-allocator.ts'
import { recordReading } from '../commands/certifications/certifications.ts'
import type { CertificationServices } from '../http/certifications/resource.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import { CertificationQueries } from '../projections/certifications/certifications.ts'
import type { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import { PdfReader } from '../reports/pdf-reader.ts'
import { readIntactFile } from '../stores/intact-file.ts'
import type { ReportReadingOptions } from '../reactions/reports/report-reading.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'

/** Ids are reserved in blocks of `size`; the next block is fetched when `prefetchThreshold` ids are left. */
const CERTIFICATION_IDS = { size: 100, prefetchThreshold: 50 }

/** Opens the queries of certifications, and the reading of reports. */
export function openReportReading(
  { store, files, context, reportReaderLimits, log, metricsRegistry }: Installation,
  { model, progress }: OpenReadModel,
  parts: ServiceParts,
) {
  const queries = new CertificationQueries(model, store, progress)
  const reader = new PdfReader(reportReaderLimits)
  parts.add({ stage: 'requests', name: 'the reader of reports', stop: async () => reader.close() })
  const contradictingReports = new Counter({
    name: 'adamant_reports_contradicting_total',
    help: 'Reports read since the process started that contradict their diamond',
    registers: [metricsRegistry],
  })
  const tools: ReportReadingOptions = {
    readFile: (digest) => readIntactFile(files, digest),
    certification: (diamond, id) => queries.findCertification(diamond, id),
    readReport: (pdf) => reader.readReport(pdf),
    record: (report) => recordReading(context, report),
    onContradiction: () => contradictingReports.inc(),
    log,
  }
  return { queries, tools }
}

/** Opens the Certification API's services. */
export function openCertifications(
  { files, context }: Installation,
  queries: CertificationQueries,
  { progress: diamondsProgress }: DiamondQueries,
  { uploads, links }: Pick<CertificationServices['certifications'], 'uploads' | 'links'>,
): CertificationServices['certifications'] {
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const ids = { ...context, kind: 'certification', ...CERTIFICATION_IDS, origin }
  return {
    context: { ...context, certificationIds: new IdAllocator(ids) },
    queries,
    diamondsProgress,
    uploads,
    files,
    links,
  }
}
