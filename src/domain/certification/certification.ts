/** The laboratories whose reports can be attached. */
export const LABORATORIES = ['GIA', 'AGS', 'HRD', 'IGI', 'IIDGR', 'GCAL'] as const

export type Laboratory = (typeof LABORATORIES)[number]

/** A report's PDF. Its bytes are with the Files port, under their digest; an event never holds them. */
export type ReportFile = {
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  readonly digest: string
  readonly bytes: number
  /** What a browser saves it as, such as `2136273512.pdf`; null where the uploaded name had nothing to keep. */
  readonly name: string | null
}

/** What is read of a report behind a label. */
export const FACTS = [
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

export type Fact = (typeof FACTS)[number]

/** What a report says of its stone, each as far as it could be read. */
export type ReportReading = {
  readonly number: string | null
  /** Weight in carats. */
  readonly carat: number | null
  /** Millimetres. A round stone has its smallest and largest diameter as width and length. */
  readonly measurements: { readonly length: number; readonly width: number; readonly depth: number } | null
  /** Percent of the mean diameter or the width. */
  readonly table: number | null
  readonly depth: number | null
  /** Degrees. */
  readonly crownAngle: number | null
  readonly pavilionAngle: number | null
  /** Percent of the mean diameter or the width. */
  readonly girdle: number | null
  /** Percent of the way from the table's edge to the girdle, and from the girdle to the culet. */
  readonly star: number | null
  readonly lower: number | null
  readonly laboratory: Laboratory | null
  /** A top-level cut shape's id. */
  readonly shape: number | null
  readonly isLabGrown: boolean | null
  /** Facts that are null because their value stands near several labels, or because the report says several values. */
  readonly unclear: readonly Fact[]
}

/** What an owner says of a report. */
export type NewCertification = {
  readonly laboratory: Laboratory
  readonly number: string | null
  readonly file: ReportFile | null
}

/** What a request to attach a report says, besides the report's file. */
export type CertificationInput = Omit<NewCertification, 'file'> & { readonly diamond: number }

export type Certification = NewCertification & {
  readonly id: number
  /** null until the PDF was read, and where nothing of it could be. */
  readonly reading: ReportReading | null
}

export type CertificationAttached = {
  readonly type: 'CertificationAttached'
  readonly data: NewCertification & { readonly id: number }
}

export type CertificationRemoved = {
  readonly type: 'CertificationRemoved'
  /** digest: of its file, which is collected when nothing else uses it; null where there was none. */
  readonly data: { readonly id: number; readonly digest: string | null }
}

/** The service read a report's PDF. It changes nothing that the owner said; whether the two fit: contradictions.ts. */
export type ReportRead = {
  readonly type: 'ReportRead'
  readonly data: { readonly certification: number; readonly reading: ReportReading }
}

export type CertificationEvent = CertificationAttached | CertificationRemoved | ReportRead

export const removed = ({ id, file }: Certification): CertificationRemoved => ({
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
