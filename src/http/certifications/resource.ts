import type { CertificationCommandContext } from '../../commands/certifications/certifications.ts'
import type { CertificationQueries } from '../../projections/certifications/certifications.ts'
import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { SignedLinks } from '../kit/signed-links.ts'
import { integerPathParameter } from '../kit/path-parameters.ts'
import type { FormUploads } from '../files/form-uploads.ts'

export type CertificationServices = {
  readonly certifications: {
    readonly context: CertificationCommandContext
    readonly queries: CertificationQueries
    /** Progress of the diamonds read model, because diamonds include their certifications. */
    readonly diamondsProgress: ProjectionProgress
    readonly uploads: FormUploads
    readonly files: FileStore
    readonly links: SignedLinks
  }
}

export const CERTIFICATION_ID = integerPathParameter('The id of a certification.').meta({ examples: [12] })
