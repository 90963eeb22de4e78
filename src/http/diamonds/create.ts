import { createDiamonds } from '../../commands/diamonds/create-diamonds.ts'
import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { Refusal } from '../../domain/refusal.ts'
import { renderBorn } from '../../projections/diamonds/diamonds.ts'
import { PRIVATE } from '../kit/app.ts'
import { requestNameOf } from '../kit/idempotency-key.ts'
import type { Links } from '../kit/links.ts'
import { callerOf, originOf, type Ctx, type Step } from '../kit/request.ts'
import { awaitProjection, sendAnswer, sendJson } from './answer.ts'
import { parseNewEntries } from './entries.ts'
import type { DiamondService } from './routes.ts'
import { readNewDiamond } from '../../representations/diamond/read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

export function createOne(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const { value, faults } = readNewDiamond(version, ctx.state.body, '')
    if (value === undefined) throw new Refusal('invalid', faults)
    const [born] = await create(ctx, service, [value])
    if (born === undefined) throw new Error('nothing was created')
    sendAnswer(ctx, bornAnswer(version, service.links, born))
  }
}

/** What the creation of one diamond answers. */
export function bornAnswer(version: ApiVersion, links: Links, born: DiamondCreated) {
  const { etag, body } = renderBorn(version, born)
  const headers = { ...PRIVATE, Location: `${links.address}/${version}/diamond/${born.data.id}`, ETag: etag }
  return { status: 201, headers, body: links.finish(body) }
}

export function createBulk(version: ApiVersion, service: DiamondService): Step {
  return async (ctx) => {
    const entries = await parseNewEntries(version, ctx.state.body)
    const created = await create(ctx, service, entries)
    const bodies = created.map((born) => renderBorn(version, born).body)
    sendJson(ctx, 201, `[${service.links.finish(bodies.join(','))}]`)
  }
}

async function create(
  ctx: Ctx,
  { inventory, queries }: DiamondService,
  entries: readonly NewDiamond[],
): Promise<readonly DiamondCreated[]> {
  const name = requestNameOf(ctx)
  // A repeat is known by what was read from its body: what the service ignores makes no other request.
  const key = name && { ...name, body: entries }
  const wish = { owner: callerOf(ctx).account, entries, origin: originOf(ctx), ...(key !== undefined && { key }) }
  const { created, position } = await createDiamonds(inventory, wish)
  await awaitProjection(ctx, queries, position)
  return created
}
