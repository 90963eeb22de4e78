import { removeCertification } from '../../commands/certifications/remove-certification.ts'
import { Refusal } from '../../domain/refusal.ts'
import { awaitProjection } from '../diamonds/answer.ts'
import { callerOf, originOf, patienceOf, type Ctx, type Step } from '../kit/request.ts'
import type { CertificationService } from './routes.ts'

export function removeReport({ certifying, certifications, queries }: CertificationService): Step {
  return async (ctx) => {
    const id = certificationIdOf(ctx)
    const diamond = await certifications.diamondOf(id, patienceOf(ctx))
    if (diamond === undefined) throw new Refusal('missing', `There is no certification ${id}`)
    const by = { owner: callerOf(ctx).account, origin: originOf(ctx) }
    await awaitProjection(ctx, queries, await removeCertification(certifying, by, { id, diamond }))
    ctx.status = 204
  }
}

/** @throws Refusal missing for what is no certification's id */
export function certificationIdOf(ctx: Ctx): number {
  const text = String(ctx.params['id'])
  const id = Number(text)
  if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return id
  throw new Refusal('missing', `There is no certification ${text.slice(0, 40)}`)
}
