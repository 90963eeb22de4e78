import { IdBlocks } from '../commands/installation/integer-ids.ts'
import { recordReading } from '../commands/certifications/record-reading.ts'
import type { CertificationServices } from '../http/certifications/service.ts'
import { Uploads } from '../http/certifications/upload/upload.ts'
import type { Metric } from '../http/health/metrics.ts'
import type { Links } from '../http/kit/links.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { ActiveRunner } from '../projections/engine/active-runner.ts'
import { CertificationQueries } from '../projections/certifications/certification-queries.ts'
import { certifications } from '../projections/certifications/certifications.ts'
import type { DiamondQueries } from '../projections/diamonds/diamond-queries.ts'
import { FileCollector } from '../reactions/files/file-collector.ts'
import { ownModel } from '../projections/engine/own-model.ts'
import type { Progress } from '../projections/engine/progress.ts'
import { PdfReader } from '../reports/pdf-reader.ts'
import { ReactionRunner } from '../projections/engine/reaction.ts'
import { reportReading } from '../reactions/reports/report-reading.ts'
import { ProjectionRunner } from '../projections/engine/runner.ts'

export type CertificationProjections = {
  readonly queries: CertificationQueries
  readonly progress: Progress
  readonly metrics: () => Metric[]
}

/** Ids of a block that one event reserves, and how few of them are left when the next block is fetched. */
const CERTIFICATION_IDS = { size: 100, ahead: 50 }

/** Starts what follows the log for certifications, as far as this process's role is to project. */
export async function startCertificationProjections(
  installation: Installation,
  parts: OpenParts,
): Promise<CertificationProjections> {
  const { settings, store, reads, files, log } = installation
  const runner = new ProjectionRunner(certifications, store, reads, log)
  const model = await ownModel(reads, store, certifications.declaration)
  const active = new ActiveRunner(runner, reads, model, log)
  parts.add({ stage: 'views', name: 'certifications', stop: () => active.stop(), figures: () => active.figures })
  const queries = new CertificationQueries(model, store, active)
  const collector = new FileCollector({ files, store, model, progress: active, log })
  parts.add({ stage: 'requests', name: 'files', stop: () => collector.stop(), figures: () => collector.figures })
  let contradicting = 0
  const reports = await openReportReading(installation, queries, parts, () => void contradicting++)
  if (settings.ROLES.includes('projections')) {
    await active.start()
    collector.start()
    await reports.start()
  }
  const metrics = (): Metric[] => [
    {
      name: 'adamant_reports_contradicting_total',
      help: 'Reports that were read by this process since it started and contradict their stone',
      kind: 'counter',
      value: contradicting,
    },
  ]
  return { queries, progress: active, metrics }
}

/** Reports are read in the one process that holds the reaction's lease. */
async function openReportReading(
  installation: Installation,
  queries: CertificationQueries,
  parts: OpenParts,
  contradicted: () => void,
) {
  const { store, reads, files, writing, log } = installation
  const reader = new PdfReader()
  const reaction = reportReading({
    files,
    certification: (diamond, id) => queries.of(diamond, id),
    read: (pdf) => reader.read(pdf),
    record: (report) => recordReading(writing, report),
    contradicted,
    log,
  })
  const runner = new ReactionRunner(reaction, store, reads, log)
  const active = new ActiveRunner(runner, reads, await reads.model(runner.declaration), log)
  parts.add({
    stage: 'requests',
    name: 'reports',
    stop() {
      reader.close()
      return active.stop()
    },
    figures: () => active.figures,
  })
  return active
}

type Answering = (links: Links) => CertificationServices['certifications']

/** What the Certification API answers from, for the address that its links start with. */
export function openCertifications(
  { store, files, writing }: Installation,
  queries: CertificationQueries,
  { progress: shown }: DiamondQueries,
): Answering {
  const origin = { actor: 'service', via: 'http', correlation: 'ids' } as const
  const ids = { store, clock: writing.clock, kind: 'certification', ...CERTIFICATION_IDS, origin }
  const certifying = { ...writing, certificationIds: new IdBlocks(ids) }
  const uploads = new Uploads(files)
  return (links) => ({ certifying, queries, shown, uploads, files, links })
}
