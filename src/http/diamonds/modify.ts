import {
  changeDiamond,
  changeDiamonds,
  planDelete,
  ownershipFaults,
  planPatch,
  type ChangedDiamond,
  type DiamondChange,
  type IfMatchRevisions,
} from '../../commands/diamonds/diamonds.ts'
import { etagOf } from '../../projections/diamonds/diamond-view.ts'
import { diamondJson, diamondListJson } from '../../representations/diamond/diamond-json.ts'
import { IDENTIFIED_FIELD_CHANGES, DIAMOND, DIAMOND_CHANGES } from '../../representations/diamond/schemas.ts'
import { parseFieldChanges } from '../../representations/diamond/parse-diamond.ts'
import { requireValid } from '../../representations/parse.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import { noContent, ok, parseEntityTags, type ResponseHeaders } from '../kit/response.ts'
import { bearer, type BearerPrincipal } from '../kit/authenticate.ts'
import { json } from '../kit/json-body.ts'
import { CONSISTENCY, waitForReadModel } from '../kit/consistency.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { DELETE_ENTRY, parseChangeEntries, parseIdEntries, type BulkEntries } from './bulk-entries.ts'
import {
  VERSION_PARAMETERS,
  bulkJson,
  actorOf,
  parseDiamondId,
  IF_MATCH,
  listOf,
  DIAMOND_PARAMETERS,
  DIAMOND_ERROR_RESPONSES,
  type DiamondServices,
} from './resource.ts'

const ENTRY_RESPONSES = { 403: 'A diamond belongs to another account', 404: 'A diamond does not exist' } as const
const CONFLICT_RESPONSE = { 409: 'Changed by another request; read it and try again' } as const
const PRECONDITION_RESPONSE = { 412: 'The revision does not match If-Match' } as const

export const modifyDiamond = endpoint({
  operationId: 'modifyDiamond',
  method: ['PUT', 'PATCH'],
  path: '/{version}/diamond/{id}',
  summary: 'Update a diamond. Fields that are not sent stay unchanged; null removes a value.',
  auth: bearer,
  pathParameters: DIAMOND_PARAMETERS,
  requestHeaders: IF_MATCH,
  body: json(DIAMOND_CHANGES),
  group: accountGroup,
  responses: {
    200: { description: 'The diamond', schema: DIAMOND, headers: { ETag: 'Its revision', ...CONSISTENCY } },
    ...DIAMOND_ERROR_RESPONSES,
    ...CONFLICT_RESPONSE,
    ...PRECONDITION_RESPONSE,
  },
  async handler(ctx, services: DiamondServices) {
    const { version } = ctx.params
    const change = requireValid(parseFieldChanges(version, ctx.request.body, ''))
    const id = parseDiamondId(ctx.params)
    const { changed, consistency } = await changeOne(ctx, services, planPatch(id, change, actorOf(ctx)))
    const [view] = await services.diamonds.queries.viewsAtRevisions(changed)
    if (view === undefined) throw new RequestError('missing', `There is no diamond ${id}`)
    return ok(diamondJson(version, view, services.diamonds.links), { ETag: etagOf(view), ...consistency })
  },
})

export const modifyDiamonds = endpoint({
  operationId: 'modifyDiamonds',
  method: ['PUT', 'PATCH'],
  path: '/{version}/diamond/bulk',
  summary: 'Update up to 500 diamonds. Either all are updated or none.',
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  body: bulkJson(IDENTIFIED_FIELD_CHANGES),
  group: accountGroup,
  responses: {
    200: { description: 'The diamonds, in the order of the entries', schema: listOf(DIAMOND), headers: CONSISTENCY },
    ...ENTRY_RESPONSES,
    ...CONFLICT_RESPONSE,
  },
  async handler(ctx, services: DiamondServices) {
    const { version } = ctx.params
    const actor = actorOf(ctx)
    const entries = await requireValidEntries(ctx, services, await parseChangeEntries(version, ctx.request.body))
    const changes = entries.map(({ id, change, pointer }) => planPatch(id, change, actor, pointer))
    const { changed, consistency } = await changeAll(ctx, services, changes)
    const views = await services.diamonds.queries.viewsAtRevisions(changed)
    return ok(diamondListJson(version, views, services.diamonds.links), consistency)
  },
})

export const removeDiamond = endpoint({
  operationId: 'removeDiamond',
  method: 'DELETE',
  path: '/{version}/diamond/{id}',
  summary: 'Delete a diamond and its certifications',
  auth: bearer,
  pathParameters: DIAMOND_PARAMETERS,
  requestHeaders: IF_MATCH,
  group: accountGroup,
  responses: {
    204: { description: 'Deleted', headers: CONSISTENCY },
    ...DIAMOND_ERROR_RESPONSES,
    ...CONFLICT_RESPONSE,
    ...PRECONDITION_RESPONSE,
  },
  async handler(ctx, services: DiamondServices) {
    const { consistency } = await changeOne(ctx, services, planDelete(parseDiamondId(ctx.params), actorOf(ctx)))
    return noContent(consistency)
  },
})

export const removeDiamonds = endpoint({
  operationId: 'removeDiamonds',
  method: 'DELETE',
  path: '/{version}/diamond/bulk',
  summary: 'Delete up to 500 diamonds. Either all are deleted or none.',
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  body: bulkJson({ v3: DELETE_ENTRY, v4: DELETE_ENTRY }),
  group: accountGroup,
  responses: { 204: { description: 'Deleted', headers: CONSISTENCY }, ...ENTRY_RESPONSES, ...CONFLICT_RESPONSE },
  async handler(ctx, services: DiamondServices) {
    const actor = actorOf(ctx)
    const entries = await requireValidEntries(ctx, services, await parseIdEntries(ctx.request.body))
    const removals = entries.map(({ id, pointer }) => planDelete(id, actor, pointer))
    const { consistency } = await changeAll(ctx, services, removals)
    return noContent(consistency)
  },
})

type DiamondChangeRequest = EndpointContext<BearerPrincipal>

/** @throws RequestError invalid, if any entry is; also reports entries whose diamond is unknown or of another account */
async function requireValidEntries<Entry>(
  { state: { principal } }: DiamondChangeRequest,
  { diamonds: { context } }: DiamondServices,
  { entries, idEntries, faults }: BulkEntries<Entry>,
): Promise<readonly Entry[]> {
  if (faults.length === 0) return entries
  const allFaults = [...faults, ...(await ownershipFaults(context, principal.account, idEntries))]
  throw new RequestError(
    'invalid',
    allFaults.toSorted((a, b) => entryIndexOf(a) - entryIndexOf(b)),
  )
}

/** The index of the entry that an error belongs to; -1 if it belongs to none. */
const entryIndexOf = ({ pointer }: ErrorDetail) => Number(/^\/entries\/(\d+)/.exec(pointer ?? '')?.[1] ?? -1)

type DiamondChangeResult = { readonly changed: readonly ChangedDiamond[]; readonly consistency: ResponseHeaders }

async function changeOne(
  ctx: DiamondChangeRequest,
  { diamonds }: DiamondServices,
  change: DiamondChange,
): Promise<DiamondChangeResult> {
  const ifMatch = parseIfMatch(ctx.headers['if-match'])
  const { position, changed } = await changeDiamond(diamonds.context, actorOf(ctx), change, ifMatch)
  return { changed, consistency: await waitForReadModel(ctx, diamonds.queries.progress, position) }
}

async function changeAll(
  ctx: DiamondChangeRequest,
  { diamonds }: DiamondServices,
  changes: readonly DiamondChange[],
): Promise<DiamondChangeResult> {
  const { position, changed } = await changeDiamonds(diamonds.context, actorOf(ctx), changes)
  return { changed, consistency: await waitForReadModel(ctx, diamonds.queries.progress, position) }
}

/**
 * Parses If-Match. Compares only the diamond's revision, not that of its scores. Accepts ETags as changed by compressing
 * proxies: weak (nginx: `W/"3.0"`) or with a suffix (Apache: `"3.0-gzip"`).
 * @returns undefined without the header; otherwise the accepted revisions, without unknown ETags
 */
function parseIfMatch(header: string | undefined): IfMatchRevisions | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  return parseEntityTags(header).flatMap((tag) => {
    const revision = /^(?:W\/)?"(\d{1,18})\.\d{1,18}(?:-(?:gzip|br|zstd))?"$/.exec(tag)?.[1]
    return revision === undefined ? [] : [BigInt(revision)]
  })
}
