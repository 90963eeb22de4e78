import { attachCertification } from '../../commands/attach-certification.ts'
import { parseCertification, type CertificationInput } from '../../domain/certification/input.ts'
import { renderCertification } from '../../domain/certification/render.ts'
import { fileRevision } from '../../domain/diamond/access.ts'
import { Refusal } from '../../domain/refusal.ts'
import { awaitProjection, sendJson } from '../diamonds/answer.ts'
import { callerOf, originOf, type Ctx, type Step, type Upload } from '../request.ts'
import type { CertificationService } from './routes.ts'

/** Attaches the report that `readUpload` left, and answers the certification. */
export function attachReport({ certifying, queries, links }: CertificationService): Step {
  return async (ctx) => {
    const { input, file } = uploadOf(ctx)
    const wish = checked(input)
    const by = { owner: callerOf(ctx).account, origin: originOf(ctx) }
    const { certification, diamond, position } = await attachCertification(certifying, by, wish, file)
    await awaitProjection(ctx, queries, position)
    sendJson(ctx, 201, links.finish(renderCertification(certification, fileRevision(diamond))))
  }
}

/** @throws Refusal invalid, with all that is wrong */
function checked(input: unknown): CertificationInput {
  const { value, faults } = parseCertification(input)
  if (value === undefined) throw new Refusal('invalid', faults)
  return value
}

function uploadOf(ctx: Ctx): Upload {
  if (ctx.state.upload === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind readUpload`)
  return ctx.state.upload
}
