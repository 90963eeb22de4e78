import { z } from 'zod'
import { isShapeId } from '../dictionaries/shapes.ts'
import { declareEvents, type EventOf, type StoredPayload } from '../event.ts'

/** The laboratories whose reports can be attached. */
export const LABORATORIES = ['GIA', 'AGS', 'HRD', 'IGI', 'IIDGR', 'GCAL'] as const

export type Laboratory = (typeof LABORATORIES)[number]

/** What is read of a report behind a label. */
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

/** What names the bytes of a file in events: the Files port has them under it. */
export const fileDigest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the file')

/** Adds to a reading what the releases that made it did not look for. What is no reading at all is for the schema to refuse. */
const adding =
  (members: StoredPayload) =>
  (data: StoredPayload): StoredPayload => {
    const { reading } = data
    return typeof reading === 'object' && reading !== null ? { ...data, reading: { ...members, ...reading } } : data
  }

const withLaboratoryAndShape = adding({ laboratory: null, shape: null, isLabGrown: null })

/** `mismatches` named what was found to be otherwise then, in two of five fields. */
const withReadingOfAll = ({ mismatches: _mismatches, ...data }: StoredPayload) => withLaboratoryAndShape(data)

const positive = z.number().positive()

/** What a report says of its stone, each as far as it could be read. A round stone has its diameters as width and length. */
const reading = z.object({
  number: z.string().nullable(),
  carat: positive.nullable().describe('weight in carats'),
  measurements: z.object({ length: positive, width: positive, depth: positive }).nullable().describe('millimetres'),
  table: positive.nullable().describe('percent of the mean diameter or the width'),
  depth: positive.nullable().describe('percent, likewise'),
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
      'members that are null because their value stands near several labels, or because the report says several values',
    ),
})

const id = z.int().min(1).describe('id of the certification')

/** `digest` of what is removed: its file is collected when nothing else uses it. */
export const certificationEvents = declareEvents('diamond-{id}', {
  CertificationAttached: {
    about: "The owner attached a laboratory's report.",
    payload: z.object({
      id,
      laboratory: z.enum(LABORATORIES),
      number: z.string().nullable().describe('as its owner says'),
      file: z.object({ digest: fileDigest, bytes: z.int().min(1), name: z.string().nullable() }).nullable(),
    }),
  },
  CertificationRemoved: { about: 'The owner removed it.', payload: z.object({ id, digest: fileDigest.nullable() }) },
  ReportRead: {
    about: 'The service read the PDF of a report. It changes nothing that the owner said.',
    payload: z.object({ certification: id, reading }),
    changes: [
      {
        about:
          '`laboratory`, `shape` and `isLabGrown` are always there, null where nothing was found; version 1 lacked them where they were not looked for. `mismatches` is gone: it follows from the reading and the stone.',
        upcast: withReadingOfAll,
      },
      {
        about:
          '`girdle`, `star` and `lower` are new, null where nothing was found; earlier versions did not look for them.',
        upcast: adding({ girdle: null, star: null, lower: null }),
      },
      { about: '`unclear` is new; earlier versions took one of several values.', upcast: adding({ unclear: [] }) },
    ],
  },
})
type CertificationEventDeclarations = typeof certificationEvents
export type CertificationAttached = EventOf<CertificationEventDeclarations, 'CertificationAttached'>
export type CertificationRemoved = EventOf<CertificationEventDeclarations, 'CertificationRemoved'>
export type ReportRead = EventOf<CertificationEventDeclarations, 'ReportRead'>
export type CertificationEvent = EventOf<CertificationEventDeclarations>

export type ReportReading = ReportRead['data']['reading']
/** What an owner says of a report. */
export type NewCertification = Omit<CertificationAttached['data'], 'id'>
/** A report's PDF. Its bytes are with the Files port, under their digest; an event never holds them. */
export type ReportFile = NonNullable<NewCertification['file']>

/** What a request to attach a report says, besides the report's file. */
export type CertificationInput = Omit<NewCertification, 'file'> & { readonly diamond: number }

export type Certification = NewCertification & {
  readonly id: number
  /** null until the PDF was read, and where nothing of it could be. */
  readonly reading: ReportReading | null
}

export const certificationRemovedEvent = ({ id, file }: Certification): CertificationRemoved => ({
  type: 'CertificationRemoved',
  data: { id, digest: file?.digest ?? null },
})

/** Total: an event that does not fit leaves the list as it was. */
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

/** Characters of a name without its extension at most. */
const MAX_FILE_NAME_LENGTH = 100

/** Characters that are looked at: normalising takes time that grows with the square of a run of combining marks. */
const READ_MAX = 10 * MAX_FILE_NAME_LENGTH

/**
 * What an uploaded file's name leaves to save it by: its last part, without what a file system, a header or a reader
 * could take for something else. Always ends in `.pdf`.
 * @returns null when nothing is left
 */
export function sanitiseFileName(given: string | undefined): string | null {
  const last = ((given ?? '').split(/[/\\]/).at(-1) ?? '').slice(0, READ_MAX)
  const printable = last.toWellFormed().normalize('NFC').replaceAll(UNSAFE_CHARACTERS, '')
  const stem = printable.replace(/(?:\.pdf)+$/i, '').replace(/^[.\s]+|[.\s]+$/g, '')
  const short = [...stem].slice(0, MAX_FILE_NAME_LENGTH).join('').trim()
  return short === '' ? null : `${short}.pdf`
}

/** Controls, invisible formatting (which turns text around), private use, line separators; reserved on some systems. */
const UNSAFE_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}<>:"|?*\uFFFD]/gu
