import type { ModelDeclaration } from '../../stores/ports/read-store.ts'
import { certifications } from '../certifications/certifications.ts'
import { diamonds } from '../diamonds/diamonds.ts'
import { checkpointOf } from './reaction.ts'
import { REPORTS } from '../../reactions/reports/report-reading.ts'
import { REQUEST_FINISHING } from '../../reactions/bulk/request-finishing.ts'
import { SCORING } from '../../reactions/scoring/scoring.ts'
import { secrets } from '../secrets/secrets.ts'

export type KnownModel = { readonly declaration: ModelDeclaration; readonly prefixes: readonly string[] }

/** Every read model of this release with the streams that it is made of. */
export const READ_MODELS: readonly KnownModel[] = [diamonds, certifications, secrets].map(
  ({ declaration, prefixes }) => ({ declaration, prefixes }),
)

/** The names of every reaction whose checkpoint is kept with the read models. The vault's endings keep theirs there. */
export const REACTIONS: readonly string[] = [SCORING.name, REPORTS, REQUEST_FINISHING]

/** Whatever follows the log and sets events aside, a model or a reaction, by the declaration that it keeps them under. */
export const FOLLOWERS: readonly Pick<KnownModel, 'declaration'>[] = [
  ...READ_MODELS,
  ...REACTIONS.map((name) => ({ declaration: checkpointOf(name) })),
]
