import {
  changeDiamond,
  changeDiamonds,
  planDelete,
  ownershipFaults,
  planPatch,
  type ChangedDiamonds,
  type DiamondChange,
  type IfMatchRevisions,
} from '../../commands/diamonds/diamonds.ts'
import { etagOf, type DiamondView } from '../../projections/diamonds/diamond-view.ts'
import { diamondJson, diamondListJson } from '../../representations/diamond/diamond-json.ts'
import { IDENTIFIED_FIELD_CHANGES, DIAMOND, DIAMOND_CHANGES } from '../../representations/diamond/schemas.ts'
import { parseFieldChanges } from '../../representations/diamond/parse-diamond.ts'
import { requireValid } from '../../representations/parse.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import { noContent, ok, parseEntityTags, type ResponseHeaders } from '../kit/response.ts'
import { bearer, type BearerPrincipal } from '../kit/authenticate.ts'
import { json } from '../kit/json-body.ts'
import { CONSISTENCY, PENDING, waitForReadModel } from '../kit/consistency.ts'
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
    const fields = requireValid(parseFieldChanges(version, ctx.request.body, ''))
    const id = parseDiamondId(ctx.params)
    const change = await changeOne(ctx, services, planPatch(id, fields, actorOf(ctx)))
    const {
      views: [view],
      consistency,
    } = await viewsAfter(ctx, services, change)
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
    const { views, consistency } = await viewsAfter(ctx, services, await changeAll(ctx, services, changes))
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
    const { position } = await changeOne(ctx, services, planDelete(parseDiamondId(ctx.params), actorOf(ctx)))
    return noContent(await waitForReadModel(ctx, services.diamonds.queries.progress, position))
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
    const { position } = await changeAll(ctx, services, removals)
    return noContent(await waitForReadModel(ctx, services.diamonds.queries.progress, position))
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

const changeOne = (ctx: DiamondChangeRequest, { diamonds }: DiamondServices, change: DiamondChange) =>
  changeDiamond(diamonds.context, actorOf(ctx), change, parseIfMatch(ctx.headers['if-match']))

const changeAll = (ctx: DiamondChangeRequest, { diamonds }: DiamondServices, changes: readonly DiamondChange[]) =>
  changeDiamonds(diamonds.context, actorOf(ctx), changes)

/**
 * The diamonds as a change left them, with the headers of its response. A change that wrote nothing waits for the log's
 * head, because a read before it may have shown scores that the read model does not have yet.
 */
async function viewsAfter(
  ctx: DiamondChangeRequest,
  { diamonds: { context, queries } }: DiamondServices,
  { position, changed }: ChangedDiamonds,
): Promise<{ readonly views: readonly DiamondView[]; readonly consistency: ResponseHeaders }> {
  const consistency = await waitForReadModel(ctx, queries.progress, position ?? (await context.store.head()))
  return { views: await queries.viewsAtRevisions(changed, consistency !== PENDING), consistency }
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
