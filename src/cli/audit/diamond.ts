import type { ReportReading } from '../../domain/certification/certification.ts'
import { warningsOf } from '../../domain/certification/warnings.ts'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import { findCertification, diamondFold, type Diamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { shapeTitle } from '../../domain/dictionaries/shapes.ts'
import {
  changesBetweenTimes,
  toHistoryEntry as diamondEntryOf,
  readDiamondHistory,
  stateOf,
  API_EVENT_TYPES,
  viewAt,
} from '../../projections/history/diamond-history.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import {
  toAuditEntry,
  foldSteps,
  createStateLookup,
  type AuditFoldStep,
  type AuditSubject,
  type AuditPresenter,
} from './subject.ts'

/** `audit diamond ID`: the entries of the owner's history, with more detail about the actors. */
export const auditDiamond: AuditSubject = {
  name: 'diamond',
  description: 'Show the history of a diamond: who changed which fields, when, and through which client',
  idDescription: 'Diamond id; deleted diamonds too',
  example: '7',
  async loadHistory({ store, people }, id) {
    const diamondId = parseId(id.replace(STREAM_PREFIX, ''))
    if (diamondId === undefined) throw invalidId('diamond id such as 7', id)
    const history = await readDiamondHistory(store, diamondId)
    if (history.transitions.length === 0) throw new RequestError('missing', `No diamond ${id} has ever existed`)
    const actorResolver = new ActorResolver(store, people)
    return {
      entries: () =>
        Promise.all(
          history.transitions.map(async (step) => diamondEntryOf(step, await actorResolver.actorOf(step.event))),
        ),
      stateAt: (until) => stateOf(viewAt(history, until)),
      changes: (from, to) => changesBetweenTimes(history, from, to),
    }
  },
}

/** The id may also be the name of one of the diamond's streams. */
const STREAM_PREFIX = /^(?:diamond|scores)-/

const invalidId = (expected: string, id: string) =>
  new RequestError('invalid', `id: must be a ${expected}, got ${id.slice(0, 40)}`)

/** Presents a diamond's events from the point of view of one of its certifications. */
const createCertificationPresenter = (id: number): AuditPresenter<Diamond, DiamondEvent> => ({
  ...diamondFold,
  describeState: (diamond) => describeCertification(diamond, id),
  eventLabels: API_EVENT_TYPES,
  detail: ({ type }) => (type === 'DiamondPatched' ? 'the diamond was changed' : ''),
})

function describeCertification(diamond: Diamond, id: number) {
  const certification = findCertification(diamond, id)
  if (certification === undefined || diamond.status !== 'live') return null
  const { laboratory, number, file, reading } = certification
  const warnings = warningsOf(certification, diamond.fields)
  return {
    diamond: diamond.id,
    laboratory,
    number,
    file: file === null ? null : (file.name ?? 'without a name'),
    fileDigest: file?.digest ?? null,
    fileBytes: file?.bytes ?? null,
    ...describeReportReading(reading),
    warnings: warnings.length === 0 ? null : warnings.join('; '),
  }
}

/** What was read from the report's PDF; empty before it was read. */
function describeReportReading(reading: ReportReading | null): Readonly<Record<string, unknown>> {
  if (reading === null) return {}
  const { measurements, shape, ...values } = reading
  const size = measurements && `${measurements.length} x ${measurements.width} x ${measurements.depth} mm`
  const displayValues = { ...values, measurements: size, shape: shape === null ? null : shapeTitle(shape) }
  return Object.fromEntries(Object.entries(displayValues).map(([name, value]) => [`read.${name}`, value]))
}

/** `audit certification ID`. */
export const auditCertification: AuditSubject = {
  name: 'certification',
  description: 'Show the history of a certification: who attached and removed it, and what was read from its report',
  idDescription: 'Certification id; removed certifications too',
  example: '12',
  async loadHistory({ store, people }, id) {
    const certificationId = parseId(id)
    if (certificationId === undefined) throw invalidId('certification id such as 12', id)
    const stream = await findCertificationStream(store, certificationId)
    if (stream === undefined) throw new RequestError('missing', `No certification ${id} has ever existed`)
    const steps = foldSteps(await store.readStream(stream), createCertificationPresenter(certificationId))
    const actorResolver = new ActorResolver(store, people)
    const relevantSteps = steps.filter((step) => isAboutCertification(step, certificationId))
    return {
      entries: () =>
        Promise.all(
          relevantSteps.map((step) => toAuditEntry(step, createCertificationPresenter(certificationId), actorResolver)),
        ),
      stateAt: createStateLookup(steps, createCertificationPresenter(certificationId)),
    }
  },
}

/**
 * The stream of the diamond that a certification was attached to; read models do not keep removed certifications. Events are
 * not decoded, so that certifications attached by a newer release are found too.
 */
async function findCertificationStream(store: EventStore, id: number): Promise<string | undefined> {
  for await (const { type, data, stream } of store.readAll('start', { prefixes: ['diamond-'] })) {
    if (type === 'CertificationAttached' && data['id'] === id) return stream
  }
  return undefined
}

/**
 * Whether an event refers to a certification or changed it. An event that cannot be decoded counts while the certification
 * exists, since it may have changed it.
 */
function isAboutCertification(
  { stored, before, after, undecoded }: AuditFoldStep<Diamond, DiamondEvent>,
  id: number,
): boolean {
  const { type, data } = stored
  if (data[type === 'ReportRead' ? 'certification' : 'id'] === id && type !== 'DiamondCreated') return true
  const descriptionBefore = describeCertification(before, id)
  return (
    (undecoded !== undefined && descriptionBefore !== null) ||
    JSON.stringify(descriptionBefore) !== JSON.stringify(describeCertification(after, id))
  )
}
