import { randomUUID } from 'node:crypto'
import {
  changeDiamond,
  changeDiamonds,
  ownershipFaults,
  type By,
  type DiamondChange,
} from '../../commands/diamonds/change-diamonds.ts'
import type { Changed } from '../../commands/diamonds/changed-diamonds.ts'
import { deleteDiamond } from '../../commands/diamonds/delete-diamond.ts'
import { patchDiamond } from '../../commands/diamonds/patch-diamond.ts'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { callerOf, originOf, type Ctx, type Step } from '../kit/request.ts'
import { awaitProjection, idOf, sendJson } from './answer.ts'
import { parseIfMatch } from './conditions.ts'
import { parseChangeEntries, parseIdEntries, type Entries } from './entries.ts'
import type { DiamondService } from './routes.ts'
import { readChange } from '../../representations/diamond/read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

/** PUT and PATCH: what is left out stays. */
export function modifyOne(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const { value, faults } = readChange(version, ctx.state.body, '')
    if (value === undefined) throw new Refusal('invalid', faults)
    const id = idOf(ctx)
    const changed = await changeOne(ctx, service, patchDiamond(id, value, byOf(ctx)))
    const [answer] = await answersOf(version, service, changed)
    if (answer === undefined) throw new Refusal('missing', `There is no diamond ${id}`)
    ctx.res.setHeader('ETag', answer.etag)
    sendJson(ctx, 200, service.links.finish(answer.body))
  }
}

export function modifyBulk(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const by = byOf(ctx)
    const entries = await goodEntries(service, by, await parseChangeEntries(version, ctx.state.body))
    const changes = entries.map(({ id, change, pointer }) => patchDiamond(id, change, by, pointer))
    const answers = await answersOf(version, service, await changeAll(ctx, service, changes))
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
    const entries = await goodEntries(service, by, parseIdEntries(ctx.state.body))
    const removals = entries.map(({ id, pointer }) => deleteDiamond(id, by, pointer))
    await changeAll(ctx, service, removals)
    ctx.status = 204
  }
}

/**
 * The entries, where each is acceptable.
 * @throws Refusal invalid, which names the entries that are another account's or nobody's as well
 */
async function goodEntries<Entry>(
  { inventory }: DiamondService,
  { owner }: By,
  { entries, named, faults }: Entries<Entry>,
): Promise<readonly Entry[]> {
  if (faults.length === 0) return entries
  const all = [...faults, ...(await ownershipFaults(inventory, owner, named))]
  throw new Refusal(
    'invalid',
    all.toSorted((a, b) => entryOf(a) - entryOf(b)),
  )
}

/** Which entry a fault is of; -1 for one beside them. */
const entryOf = ({ pointer }: Fault) => Number(/^\/entries\/(\d+)/.exec(pointer ?? '')?.[1] ?? -1)

/** As this request has left them, in its order: what comes to them meanwhile is for who asks next. */
async function answersOf(version: ApiVersion, { queries }: DiamondService, changed: readonly Changed[]) {
  const answers = await Promise.all(changed.map((one) => queries.asChanged(version, one)))
  return answers.filter((answer) => answer !== undefined)
}

async function changeOne(ctx: Ctx, { inventory, queries }: DiamondService, change: DiamondChange) {
  const match = parseIfMatch(ctx.req.headers['if-match'])
  const { position, changed } = await changeDiamond(inventory, randomUUID(), byOf(ctx), change, match)
  await awaitProjection(ctx, queries, position)
  return changed
}

async function changeAll(ctx: Ctx, { inventory, queries }: DiamondService, changes: readonly DiamondChange[]) {
  const { position, changed } = await changeDiamonds(inventory, randomUUID(), byOf(ctx), changes)
  await awaitProjection(ctx, queries, position)
  return changed
}

const byOf = (ctx: Ctx): By => ({ owner: callerOf(ctx).account, origin: originOf(ctx) })
