import { createDiamonds as create } from '../../commands/diamonds/diamonds.ts'
import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { DIAMOND, NEW_DIAMOND } from '../../representations/diamond/schemas.ts'
import { readNewDiamond } from '../../representations/diamond/read.ts'
import { accepted } from '../../representations/parse.ts'
import { etagOf, viewOfNew } from '../../projections/diamonds/diamond-view.ts'
import { bodyText, listText } from '../../representations/diamond/body.ts'
import { answer, created, type Headers } from '../kit/answer.ts'
import { bearer, originOf, type Caller } from '../kit/authenticate.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf, json } from '../kit/json-body.ts'
import { CONSISTENCY, consistencyOf } from '../kit/consistency.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { parseNewEntries } from './entries.ts'
import { ALL, bulkJson, listOf, type DiamondServices } from './resource.ts'

export const createDiamond = endpoint({
  name: 'createDiamond',
  method: 'POST',
  path: '/{version}/diamond',
  about: 'Creates a diamond.',
  who: bearer,
  parameters: ALL,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: json(NEW_DIAMOND),
  family: owned,
  answers: {
    201: { about: 'The diamond', schema: DIAMOND, headers: { Location: 'Of the diamond', ETag: 'Its revision' } },
  },
  async run(asked, services: DiamondServices) {
    const { version } = asked.params
    const entry = accepted(readNewDiamond(version, asked.body, ''))
    const { births, consistency } = await createAll(asked, services, [entry])
    const [born] = births
    if (born === undefined) throw new Error('nothing was created')
    const { links } = services.diamonds
    const view = viewOfNew(born)
    const location = `${links.address}/${version}/diamond/${born.data.id}`
    return created(location, bodyText(version, view, links), { ETag: etagOf(view), ...consistency })
  },
})

export const createDiamonds = endpoint({
  name: 'createDiamonds',
  method: 'POST',
  path: '/{version}/diamond/bulk',
  about: 'Creates up to 500 diamonds, all or none.',
  who: bearer,
  parameters: ALL,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: bulkJson(NEW_DIAMOND),
  family: owned,
  answers: {
    201: { about: 'The diamonds, in the order of the entries', schema: listOf(DIAMOND), headers: CONSISTENCY },
  },
  async run(asked, services: DiamondServices) {
    const { version } = asked.params
    const entries = await parseNewEntries(version, asked.body)
    const { births, consistency } = await createAll(asked, services, entries)
    return answer(201, listText(version, births.map(viewOfNew), services.diamonds.links), consistency)
  },
})

async function createAll(
  asked: Asked<Caller, unknown, unknown>,
  { diamonds: { inventory, queries } }: DiamondServices,
  entries: readonly NewDiamond[],
): Promise<{ readonly births: readonly DiamondCreated[]; readonly consistency: Headers }> {
  const name = idempotencyKeyOf(asked)
  // A repeat is known by what was read from its body: what the service ignores makes no other request.
  const key = name && { ...name, body: entries }
  const wish = { owner: asked.asker.account, entries, origin: originOf(asked), ...(key !== undefined && { key }) }
  const { created: births, position } = await create(inventory, wish)
  return { births, consistency: await consistencyOf(asked, queries.progress, position) }
}
