import type { Certifying } from '../../commands/certifications/certifications.ts'
import { Refusal } from '../../domain/decider.ts'
import type { CertificationQueries } from '../../projections/certifications/certifications.ts'
import type { Progress } from '../../projections/engine/progress.ts'
import type { Files } from '../../stores/ports/files.ts'
import type { Links } from '../kit/links.ts'
import { numberInPath } from '../kit/paths.ts'
import type { FormUploads } from '../files/form-uploads.ts'

/** What the Certification API answers from. */
export type CertificationServices = {
  readonly certifications: {
    readonly certifying: Certifying
    readonly queries: CertificationQueries
    /** How far the read model of diamonds is, whose bodies show certifications. */
    readonly diamondsProgress: Progress
    readonly uploads: FormUploads
    readonly files: Files
    readonly links: Links
  }
}

export const CERTIFICATION_ID = numberInPath('The id of a certification.').meta({ examples: [12] })

/** @throws Refusal missing for what is no certification's id */
export function certificationIdOf(text: string): number {
  const id = Number(text)
  if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return id
  throw new Refusal('missing', `There is no certification ${text.slice(0, 40)}`)
}
