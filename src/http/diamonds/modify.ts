import { randomUUID } from 'node:crypto'
import { changeDiamond, changeDiamonds, type By, type DiamondChange } from '../../commands/change-diamonds.ts'
import { deleteDiamond } from '../../commands/delete-diamond.ts'
import { patchDiamond } from '../../commands/patch-diamond.ts'
import { parseChange } from '../../domain/diamond/input.ts'
import type { ApiVersion } from '../../domain/diamond/readers.ts'
import { Refusal } from '../../domain/refusal.ts'
import { callerOf, originOf, type Ctx, type Step } from '../request.ts'
import { awaitProjection, idOf, sendJson } from './answer.ts'
import { parseIfMatch } from './conditions.ts'
import { parseChangeEntries, parseIdEntries } from './entries.ts'
import type { DiamondService } from './routes.ts'

/** PUT and PATCH: what is left out stays. */
export function modifyOne(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const { value, faults } = parseChange(version, ctx.state.body, '')
    if (value === undefined) throw new Refusal('invalid', faults)
    const id = idOf(ctx)
    await changeOne(ctx, service, patchDiamond(id, value, version, byOf(ctx)))
    const answer = await service.queries.one(version, id)
    if (answer === undefined) throw new Refusal('missing', `There is no diamond ${id}`)
    ctx.res.setHeader('ETag', answer.etag)
    sendJson(ctx, 200, service.links.finish(answer.body))
  }
}

export function modifyBulk(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const by = byOf(ctx)
    const entries = parseChangeEntries(version, ctx.state.body)
    const changes = entries.map(({ id, change, pointer }) => patchDiamond(id, change, version, by, pointer))
    await changeAll(ctx, service, changes)
    const answers = await service.queries.many(
      version,
      entries.map((entry) => entry.id),
    )
    sendJson(ctx, 200, `[${service.links.finish(answers.map((answer) => answer.body).join(','))}]`)
  }
}

export function removeOne(service: DiamondService): Step {
  return async (ctx) => {
    await changeOne(ctx, service, deleteDiamond(idOf(ctx), byOf(ctx)))
    ctx.status = 204
  }
}

export function removeBulk(service: DiamondService): Step {
  return async (ctx) => {
    const by = byOf(ctx)
    await changeAll(
      ctx,
      service,
      parseIdEntries(ctx.state.body).map(({ id, pointer }) => deleteDiamond(id, by, pointer)),
    )
    ctx.status = 204
  }
}

async function changeOne(ctx: Ctx, { inventory, queries }: DiamondService, change: DiamondChange): Promise<void> {
  const match = parseIfMatch(ctx.req.headers['if-match'])
  await awaitProjection(ctx, queries, await changeDiamond(inventory, randomUUID(), byOf(ctx), change, match))
}

async function changeAll(
  ctx: Ctx,
  { inventory, queries }: DiamondService,
  changes: readonly DiamondChange[],
): Promise<void> {
  await awaitProjection(ctx, queries, await changeDiamonds(inventory, randomUUID(), byOf(ctx), changes))
}

const byOf = (ctx: Ctx): By => ({ owner: callerOf(ctx).account, origin: originOf(ctx) })
