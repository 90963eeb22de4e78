import type { Certification, CertificationAttached, ReportReading } from '../../domain/certification/certification.ts'
import { isEmptyReading } from '../../domain/certification/report-parser.ts'
import type { ReportReadingResult } from '../../commands/certifications/certifications.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { BytesMissing } from '../../stores/ports/file-store.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { traceOf } from '../../events/event-metadata.ts'
import { diamondIdOfStream } from '../../domain/diamond/diamond.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { defineReaction, type PoisonEvent } from '../../projections/engine/reaction.ts'

export type ReportReadingOptions = {
  /** Undefined if the file is missing, or its content does not have the digest. */
  readonly readFile: (digest: string) => Promise<Buffer | undefined>
  /** The certification's current state in the log. */
  readonly certification: (diamond: number, id: number) => Promise<Certification | undefined>
  /** @throws UnreadableReport for a PDF that can't be parsed */
  readonly readReport: (pdf: Buffer) => Promise<ReportReading>
  readonly record: (report: {
    readonly diamond: number
    readonly certification: number
    readonly reading: ReportReading
    readonly correlation: string
    readonly trace?: string
    readonly causation: string
  }) => Promise<ReportReadingResult | undefined>
  /** Called for each report that contradicts its diamond. */
  readonly onContradiction?: () => void
  readonly log: AppLogger
}

/**
 * Reads the PDF of each attached report, one at a time, after the upload's response. Unreadable PDFs are skipped;
 * contradictions with the owner's data are recorded in the event and logged.
 */
export const reportReading = defineReaction<{ readonly reports: ReportReadingOptions }>({
  name: 'reports',
  streamPrefixes: ['diamond-'],
  eventTypes: ['CertificationAttached'],
  createHandler:
    ({ reports }) =>
    async (events, signal = neverAborted()) => {
      const poisonEvents: PoisonEvent[] = []
      for (const event of events) {
        signal.throwIfAborted()
        const error = await tryReadReport(reports, event)
        if (error !== undefined) poisonEvents.push({ event, error })
      }
      return poisonEvents
    },
})

/**
 * A diamond with undecodable events, or a missing or damaged file, does not block other reports.
 * @returns the error for the dead letter, which an operator retries once the cause is repaired
 */
async function tryReadReport(options: ReportReadingOptions, event: StoredEvent): Promise<Error | undefined> {
  try {
    await readAttachedReport(options, event)
  } catch (error) {
    if (isDecodeError(error) || error instanceof BytesMissing) return error
    throw error
  }
}

async function readAttachedReport(options: ReportReadingOptions, event: StoredEvent): Promise<void> {
  const { id, file } = decode<CertificationAttached>(event).data
  const diamond = diamondIdOfStream(event.stream)
  if (file === null || (await options.certification(diamond, id))?.reading !== null) return
  const pdf = await options.readFile(file.digest)
  if (pdf === undefined) throw new BytesMissing(`the file ${file.digest} of certification ${id} is missing or damaged`)
  const reading = await readOrSkip(options, pdf, id)
  if (reading === undefined) return
  const correlation = event.metadata['$correlationId'] ?? event.id
  const cause = { correlation, causation: event.id, ...traceOf(event) }
  const recorded = await options.record({ diamond, certification: id, reading, ...cause })
  const contradictions = recorded?.contradictions ?? []
  if (contradictions.length > 0) options.onContradiction?.()
  for (const contradiction of contradictions) {
    options.log.warn({ diamond, certification: id, ...contradiction }, 'a report contradicts the data of its owner')
  }
}

/** @returns undefined if the PDF is unreadable or empty */
async function readOrSkip({ readReport, log }: ReportReadingOptions, pdf: Buffer, certification: number) {
  try {
    const reading = await readReport(pdf)
    return isEmptyReading(reading) ? undefined : reading
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'UnreadableReport') throw error
    log.info({ certification, reason: error.message }, 'a report could not be read')
    return undefined
  }
}
