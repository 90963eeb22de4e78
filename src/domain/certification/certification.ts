import { z } from 'zod'
import { isShapeId } from '../dictionaries/shapes.ts'
import { declareEvents, type EventOf, type StoredPayload } from '../event.ts'
import { safeFileName } from '../file-name.ts'

export const LABORATORIES = ['GIA', 'AGS', 'HRD', 'IGI', 'IIDGR', 'GCAL'] as const

export type Laboratory = (typeof LABORATORIES)[number]

/** Facts that are read from a labelled value in a report. */
export const REPORT_FACTS = [
  'number',
  'carat',
  'measurements',
  'table',
  'depth',
  'crownAngle',
  'pavilionAngle',
  'girdle',
  'star',
  'lower',
  'shape',
] as const

export type ReportFact = (typeof REPORT_FACTS)[number]

/** The key of a file in the file store. Events refer to files by it. */
export const fileDigest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the file')

/** Upcaster that adds members which earlier releases did not read. A payload without a reading is left for the schema to reject. */
const addReadingMembers =
  (members: StoredPayload) =>
  (data: StoredPayload): StoredPayload => {
    const { reading } = data
    return typeof reading === 'object' && reading !== null ? { ...data, reading: { ...members, ...reading } } : data
  }

const withLaboratoryAndShape = addReadingMembers({ laboratory: null, shape: null, isLabGrown: null })

/** `mismatches` listed contradictions with the stone at that time. */
const upcastToVersion2 = ({ mismatches: _mismatches, ...data }: StoredPayload) => withLaboratoryAndShape(data)

const positive = z.number().positive()

/** What a report says about its stone; null for facts that could not be read. Length and width of a round are its diameters. */
export const reportReading = z.object({
  number: z.string().nullable(),
  carat: positive.nullable().describe('weight in carats'),
  measurements: z.object({ length: positive, width: positive, depth: positive }).nullable().describe('millimetres'),
  table: positive.nullable().describe('percent of the mean diameter or the width'),
  depth: positive.nullable().describe('percent of the mean diameter or the width'),
  crownAngle: positive.nullable().describe('degrees'),
  pavilionAngle: positive.nullable().describe('degrees'),
  girdle: positive.nullable().describe('percent of the mean diameter or the width'),
  star: positive.nullable().describe("star length, percent of the way from the table's edge to the girdle"),
  lower: positive.nullable().describe('length of the lower halves, percent of the way from the girdle to the culet'),
  laboratory: z.enum(LABORATORIES).nullable(),
  shape: z.int().refine(isShapeId, "this release's dictionary of cut shapes has no such id").nullable(),
  isLabGrown: z.boolean().nullable(),
  unclear: z
    .array(z.enum(REPORT_FACTS))
    .describe(
      'members that are null because the report is ambiguous: a value is near several labels, or there are several values',
    ),
})

const id = z.int().min(1).describe('id of the certification')

/** `digest` in CertificationRemoved: the garbage collector deletes the file unless something else refers to it. */
export const certificationEvents = declareEvents('diamond-{id}', {
  CertificationAttached: {
    about: 'The owner attached a laboratory report to the diamond.',
    payload: z.object({
      id,
      laboratory: z.enum(LABORATORIES),
      number: z.string().nullable().describe('as given by the owner'),
      file: z.object({ digest: fileDigest, bytes: z.int().min(1), name: z.string().nullable() }).nullable(),
    }),
  },
  CertificationRemoved: {
    about: 'A certification was removed.',
    payload: z.object({ id, digest: fileDigest.nullable() }),
  },
  ReportRead: {
    about: 'The service read the PDF of a report. Values given by the owner stay unchanged.',
    payload: z.object({ certification: id, reading: reportReading }),
    changes: [
      {
        about:
          '`laboratory`, `shape` and `isLabGrown` became required; null if not found. `mismatches` was removed: contradictions are computed from the reading and the diamond.',
        upcast: upcastToVersion2,
      },
      {
        about: '`girdle`, `star` and `lower` were added; null if not found.',
        upcast: addReadingMembers({ girdle: null, star: null, lower: null }),
      },
      {
        about: '`unclear` was added. Earlier versions chose one of several values.',
        upcast: addReadingMembers({ unclear: [] }),
      },
    ],
  },
})
type CertificationEventDeclarations = typeof certificationEvents
export type CertificationAttached = EventOf<CertificationEventDeclarations, 'CertificationAttached'>
export type CertificationRemoved = EventOf<CertificationEventDeclarations, 'CertificationRemoved'>
export type ReportRead = EventOf<CertificationEventDeclarations, 'ReportRead'>
export type CertificationEvent = EventOf<CertificationEventDeclarations>

export type ReportReading = ReportRead['data']['reading']
/** A certification as its owner gives it. */
export type NewCertification = Omit<CertificationAttached['data'], 'id'>
/** A report's PDF. Its bytes are in the file store, under their digest. */
export type ReportFile = NonNullable<NewCertification['file']>

export type CertificationInput = Omit<NewCertification, 'file'> & { readonly diamond: number }

export type Certification = NewCertification & {
  readonly id: number
  /** null until the PDF was read, and if nothing could be read from it. */
  readonly reading: ReportReading | null
}

export const certificationAttachedEvent = (
  id: number,
  { laboratory, number, file = null }: Omit<NewCertification, 'file'> & Partial<Pick<NewCertification, 'file'>>,
): CertificationAttached => ({ type: 'CertificationAttached', data: { id, laboratory, number, file } })

export const certificationRemovedEvent = ({ id, file }: Certification): CertificationRemoved => ({
  type: 'CertificationRemoved',
  data: { id, digest: file?.digest ?? null },
})

/** Total: an event that does not apply leaves the list unchanged. */
export function evolveCertifications(
  certifications: readonly Certification[],
  event: CertificationEvent,
): readonly Certification[] {
  switch (event.type) {
    case 'CertificationAttached':
      return [...certifications, { ...event.data, reading: null }]
    case 'CertificationRemoved':
      return certifications.filter(({ id }) => id !== event.data.id)
    case 'ReportRead':
      return certifications.map((certification) =>
        certification.id === event.data.certification
          ? { ...certification, reading: event.data.reading }
          : certification,
      )
    default:
      return certifications
  }
}

/**
 * A safe file name for a download of a report, which always ends in `.pdf`.
 * @returns null if nothing is left
 */
export function pdfFileName(fileName: string | undefined): string | null {
  const stem = safeFileName(fileName)?.replace(/(?:\.pdf)+$/i, '') ?? ''
  return stem === '' ? null : `${stem}.pdf`
}
