import { createDiamonds as create } from '../../commands/diamonds/diamonds.ts'
import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { DIAMOND, NEW_DIAMOND } from '../../representations/diamond/schemas.ts'
import { parseNewDiamond } from '../../representations/diamond/parse-diamond.ts'
import { requireValid } from '../../representations/parse.ts'
import { etagOf, viewOfNew } from '../../projections/diamonds/diamond-view.ts'
import { diamondJson, diamondListJson } from '../../representations/diamond/diamond-json.ts'
import { createResponse, created, type ResponseHeaders } from '../kit/response.ts'
import { bearer, eventOriginOf, type BearerPrincipal } from '../kit/authenticate.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf, json } from '../kit/json-body.ts'
import { CONSISTENCY, waitForReadModel } from '../kit/consistency.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { parseNewEntries } from './bulk-entries.ts'
import { VERSION_PARAMETERS, bulkJson, listOf, type DiamondServices } from './resource.ts'

export const createDiamond = endpoint({
  operationId: 'createDiamond',
  method: 'POST',
  path: '/{version}/diamond',
  summary: 'Create a diamond',
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: json(NEW_DIAMOND),
  group: accountGroup,
  responses: {
    201: {
      description: 'The diamond',
      schema: DIAMOND,
      headers: { Location: 'URL of the diamond', ETag: 'Its revision' },
    },
  },
  async handler(ctx, services: DiamondServices) {
    const { version } = ctx.params
    const entry = requireValid(parseNewDiamond(version, ctx.request.body, ''))
    const { createdEvents, consistency } = await createAll(ctx, services, [entry])
    const [createdEvent] = createdEvents
    if (createdEvent === undefined) throw new Error('nothing was created')
    const { links } = services.diamonds
    const view = viewOfNew(createdEvent)
    const location = `${links.baseUrl}/${version}/diamond/${createdEvent.data.id}`
    return created(location, diamondJson(version, view, links), { ETag: etagOf(view), ...consistency })
  },
})

export const createDiamonds = endpoint({
  operationId: 'createDiamonds',
  method: 'POST',
  path: '/{version}/diamond/bulk',
  summary: 'Create up to 500 diamonds. Either all are created or none.',
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: bulkJson(NEW_DIAMOND),
  group: accountGroup,
  responses: {
    201: { description: 'The diamonds, in the order of the entries', schema: listOf(DIAMOND), headers: CONSISTENCY },
  },
  async handler(ctx, services: DiamondServices) {
    const { version } = ctx.params
    const entries = await parseNewEntries(version, ctx.request.body)
    const { createdEvents, consistency } = await createAll(ctx, services, entries)
    return createResponse(
      201,
      diamondListJson(version, createdEvents.map(viewOfNew), services.diamonds.links),
      consistency,
    )
  },
})

async function createAll(
  ctx: EndpointContext<BearerPrincipal>,
  { diamonds: { context, queries } }: DiamondServices,
  entries: readonly NewDiamond[],
): Promise<{ readonly createdEvents: readonly DiamondCreated[]; readonly consistency: ResponseHeaders }> {
  const idempotencyKey = idempotencyKeyOf(ctx)
  // Compare the parsed entries, so that ignored members do not make a repeated request look different.
  const key = idempotencyKey && { ...idempotencyKey, body: entries }
  const command = {
    owner: ctx.state.principal.account,
    entries,
    origin: eventOriginOf(ctx),
    ...(key !== undefined && { key }),
  }
  const { created: createdEvents, position } = await create(context, command)
  return { createdEvents, consistency: await waitForReadModel(ctx, queries.progress, position) }
}
