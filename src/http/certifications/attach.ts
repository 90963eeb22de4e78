import { attachCertification, type Certifying } from '../../commands/certifications/attach-certification.ts'
import { ownershipFaults, type By } from '../../commands/diamonds/change-diamonds.ts'
import { fileRevision } from '../../domain/diamond/access.ts'
import { Refusal } from '../../domain/refusal.ts'
import { awaitProjection, sendJson } from '../diamonds/answer.ts'
import { requestNameOf } from '../kit/idempotency-key.ts'
import { callerOf, originOf, type Ctx, type Step, type Upload } from '../kit/request.ts'
import type { CertificationService } from './routes.ts'
import { certificationText, namedDiamond, readCertification } from '../../representations/certification.ts'
import type { CertificationInput } from '../../domain/certification/certification.ts'

/** Attaches the report that `readUpload` left, and answers the certification. */
export function attachReport({ certifying, queries, links }: CertificationService): Step {
  return async (ctx) => {
    const upload = uploadOf(ctx)
    const by = { owner: callerOf(ctx).account, origin: originOf(ctx) }
    const wish = await checked(certifying, by, upload)
    const { certification, diamond, position } = await attachCertification(
      certifying,
      by,
      wish,
      upload.file,
      requestNameOf(ctx),
    )
    await awaitProjection(ctx, queries, position)
    ctx.set('Location', `${links.address}/v4/certification/${certification.id}`)
    sendJson(ctx, 201, links.finish(certificationText(certification, fileRevision(diamond))))
  }
}

/**
 * What is asked for, where all of it is acceptable.
 * @throws Refusal with all that is wrong, of the texts, the file and the diamond: invalid where a text is, else what the
 *   file is refused for
 */
async function checked(writing: Certifying, { owner }: By, { input, refused }: Upload): Promise<CertificationInput> {
  const { value, faults = [] } = readCertification(input)
  if (value !== undefined && refused === undefined) return value
  const id = namedDiamond(input)
  const foreign = id === undefined ? [] : await ownershipFaults(writing, owner, [{ id, pointer: '/product' }])
  const kind = faults.length > 0 ? 'invalid' : (refused?.kind ?? 'invalid')
  throw new Refusal(kind, [...faults, ...(refused?.faults ?? []), ...foreign])
}

function uploadOf(ctx: Ctx): Upload {
  if (ctx.state.upload === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind readUpload`)
  return ctx.state.upload
}
