import {
  changeDiamond,
  changeDiamonds,
  deleteDiamond,
  ownershipFaults,
  patchDiamond,
  type Changed,
  type DiamondChange,
  type Match,
} from '../../commands/diamonds/diamonds.ts'
import { etagOf } from '../../projections/diamonds/diamond-view.ts'
import { bodyText, listText } from '../../representations/diamond/body.ts'
import { CHANGES_OF_ONE, DIAMOND, DIAMOND_CHANGES } from '../../representations/diamond/schemas.ts'
import { readChange } from '../../representations/diamond/read.ts'
import { accepted } from '../../representations/parse.ts'
import { Refusal, type Fault } from '../../domain/decider.ts'
import { noContent, ok, tagsOf, type Headers } from '../kit/answer.ts'
import { bearer, type Caller } from '../kit/authenticate.ts'
import { json } from '../kit/json-body.ts'
import { CONSISTENCY, consistencyOf } from '../kit/consistency.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { ID_ALONE, parseChangeEntries, parseIdEntries, type Entries } from './entries.ts'
import { ALL, bulkJson, byOf, idOf, IF_MATCH, listOf, ONE, REFUSED_ONE, type DiamondServices } from './resource.ts'

const OF_ENTRIES = { 403: "One of them is another account's", 404: 'One of them does not exist' } as const
const OVERTAKEN = { 409: 'Somebody else changed it meanwhile; read it and try again' } as const
const UNMATCHED = { 412: 'Its revision is not that of If-Match' } as const

export const modifyDiamond = endpoint({
  name: 'modifyDiamond',
  method: ['PUT', 'PATCH'],
  path: '/{version}/diamond/{id}',
  about: 'Changes the fields that are sent; null removes a value, and what is left out stays.',
  who: bearer,
  parameters: ONE,
  requestHeaders: IF_MATCH,
  body: json(DIAMOND_CHANGES),
  family: owned,
  answers: {
    200: { about: 'The diamond', schema: DIAMOND, headers: { ETag: 'Its revision', ...CONSISTENCY } },
    ...REFUSED_ONE,
    ...OVERTAKEN,
    ...UNMATCHED,
  },
  async run(asked, services: DiamondServices) {
    const { version } = asked.params
    const change = accepted(readChange(version, asked.body, ''))
    const id = idOf(asked.params)
    const { changed, consistency } = await changeOne(asked, services, patchDiamond(id, change, byOf(asked)))
    const [found] = await services.diamonds.queries.asChanged(changed)
    if (found === undefined) throw new Refusal('missing', `There is no diamond ${id}`)
    return ok(bodyText(version, found, services.diamonds.links), { ETag: etagOf(found), ...consistency })
  },
})

export const modifyDiamonds = endpoint({
  name: 'modifyDiamonds',
  method: ['PUT', 'PATCH'],
  path: '/{version}/diamond/bulk',
  about: 'Changes up to 500 diamonds, each named by its id, all or none.',
  who: bearer,
  parameters: ALL,
  body: bulkJson(CHANGES_OF_ONE),
  family: owned,
  answers: {
    200: { about: 'The diamonds, in the order of the entries', schema: listOf(DIAMOND), headers: CONSISTENCY },
    ...OF_ENTRIES,
    ...OVERTAKEN,
  },
  async run(asked, services: DiamondServices) {
    const { version } = asked.params
    const by = byOf(asked)
    const entries = await goodEntries(asked, services, await parseChangeEntries(version, asked.body))
    const changes = entries.map(({ id, change, pointer }) => patchDiamond(id, change, by, pointer))
    const { changed, consistency } = await changeAll(asked, services, changes)
    const found = await services.diamonds.queries.asChanged(changed)
    return ok(listText(version, found, services.diamonds.links), consistency)
  },
})

export const removeDiamond = endpoint({
  name: 'removeDiamond',
  method: 'DELETE',
  path: '/{version}/diamond/{id}',
  about: 'Removes a diamond, and its certifications with it.',
  who: bearer,
  parameters: ONE,
  requestHeaders: IF_MATCH,
  family: owned,
  answers: { 204: { about: 'It is gone', headers: CONSISTENCY }, ...REFUSED_ONE, ...OVERTAKEN, ...UNMATCHED },
  async run(asked, services: DiamondServices) {
    const { consistency } = await changeOne(asked, services, deleteDiamond(idOf(asked.params), byOf(asked)))
    return noContent(consistency)
  },
})

export const removeDiamonds = endpoint({
  name: 'removeDiamonds',
  method: 'DELETE',
  path: '/{version}/diamond/bulk',
  about: 'Removes up to 500 diamonds, all or none.',
  who: bearer,
  parameters: ALL,
  body: bulkJson({ v3: ID_ALONE, v4: ID_ALONE }),
  family: owned,
  answers: { 204: { about: 'They are gone', headers: CONSISTENCY }, ...OF_ENTRIES, ...OVERTAKEN },
  async run(asked, services: DiamondServices) {
    const by = byOf(asked)
    const entries = await goodEntries(asked, services, await parseIdEntries(asked.body))
    const removals = entries.map(({ id, pointer }) => deleteDiamond(id, by, pointer))
    const { consistency } = await changeAll(asked, services, removals)
    return noContent(consistency)
  },
})

type Asking = Asked<Caller, unknown, unknown>

/**
 * The entries, where each is acceptable.
 * @throws Refusal invalid, which names the entries that are another account's or nobody's as well
 */
async function goodEntries<Entry>(
  { asker }: Asking,
  { diamonds: { inventory } }: DiamondServices,
  { entries, named, faults }: Entries<Entry>,
): Promise<readonly Entry[]> {
  if (faults.length === 0) return entries
  const all = [...faults, ...(await ownershipFaults(inventory, asker.account, named))]
  throw new Refusal(
    'invalid',
    all.toSorted((a, b) => entryOf(a) - entryOf(b)),
  )
}

/** Which entry a fault is of; -1 for one beside them. */
const entryOf = ({ pointer }: Fault) => Number(/^\/entries\/(\d+)/.exec(pointer ?? '')?.[1] ?? -1)

type Done = { readonly changed: readonly Changed[]; readonly consistency: Headers }

async function changeOne(asked: Asking, { diamonds }: DiamondServices, change: DiamondChange): Promise<Done> {
  const match = parseIfMatch(asked.headers['if-match'])
  const { position, changed } = await changeDiamond(diamonds.inventory, byOf(asked), change, match)
  return { changed, consistency: await consistencyOf(asked, diamonds.queries.progress, position) }
}

async function changeAll(
  asked: Asking,
  { diamonds }: DiamondServices,
  changes: readonly DiamondChange[],
): Promise<Done> {
  const { position, changed } = await changeDiamonds(diamonds.inventory, byOf(asked), changes)
  return { changed, consistency: await consistencyOf(asked, diamonds.queries.progress, position) }
}

/**
 * If-Match on a write: only a diamond's revision counts, not that of its scores. A proxy that compresses answers makes their
 * tags weak (nginx: `W/"3.0"`) or marks them (Apache: `"3.0-gzip"`); they name the same revision.
 * @returns undefined without the header; a list of the revisions that would do, to which other tags add nothing
 */
function parseIfMatch(header: string | undefined): Match | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  return tagsOf(header).flatMap((tag) => {
    const revision = /^(?:W\/)?"(\d{1,18})\.\d{1,18}(?:-(?:gzip|br|zstd))?"$/.exec(tag)?.[1]
    return revision === undefined ? [] : [BigInt(revision)]
  })
}
