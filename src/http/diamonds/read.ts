import { timingSafeEqual } from 'node:crypto'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { DiamondList, DiamondReadResult } from '../../projections/diamonds/diamond-queries.ts'
import { etagOf } from '../../projections/diamonds/diamond-view.ts'
import { NEWEST_FIRST, type Sort } from '../../projections/diamonds/list-attributes.ts'
import type { KeysetCursor } from '../../projections/diamonds/list-plan.ts'
import { diamondJson, linkLifetimes, diamondListJson } from '../../representations/diamond/diamond-json.ts'
import { DIAMOND } from '../../representations/diamond/schemas.ts'
import { noContent, ok, type HttpResponse } from '../kit/response.ts'
import { bearer, type BearerPrincipal } from '../kit/authenticate.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { accountGroup, ErrorWithHeaders } from '../kit/errors.ts'
import type { SignedLinks } from '../kit/signed-links.ts'
import { AT_QUERY, LIST_QUERY, parseAt, parseListQuery, type ListQuery } from './list-query.ts'
import { pageLinks, cursorLinks } from './page-links.ts'
import {
  VERSION_PARAMETERS,
  parseDiamondId,
  listOf,
  DIAMOND_PARAMETERS,
  DIAMOND_ERROR_RESPONSES,
  type DiamondServices,
} from './resource.ts'

type CursorScope = { readonly account: number; readonly sort: string }

type CursorSigner = Pick<SignedLinks, 'mac'>

/**
 * Encodes an opaque cursor. It contains the sort key of the last diamond of the page, so writes do not shift it. A MAC binds
 * it to the account, the sort order and the current link key.
 */
function encodeCursor(signer: CursorSigner, scope: CursorScope, keyset: KeysetCursor): string {
  const text = JSON.stringify(keyset)
  return Buffer.concat([signer.mac(cursorMacInput(scope, text)), Buffer.from(text)]).toString('base64url')
}

/** @returns undefined if the cursor was not issued for this list */
function decodeCursor(signer: CursorSigner, scope: CursorScope, cursor: string): KeysetCursor | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Reject non-canonical encodings of the same bytes.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return undefined
  const text = bytes.toString('utf8', MAC_BYTES)
  if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), signer.mac(cursorMacInput(scope, text)))) return undefined
  return JSON.parse(text) as KeysetCursor
}

const cursorMacInput = ({ account, sort }: CursorScope, text: string) => `list\n${account}\n${sort}\n${text}`

const MAC_BYTES = 16

export const readDiamond = endpoint({
  operationId: 'readDiamond',
  method: 'GET',
  path: '/{version}/diamond/{id}',
  summary: 'Retrieve a diamond, as it is now or as it was at a given time',
  auth: bearer,
  pathParameters: DIAMOND_PARAMETERS,
  query: AT_QUERY,
  group: accountGroup,
  responses: {
    200: {
      description: 'The diamond',
      schema: DIAMOND,
      headers: {
        ETag: 'The revision, for If-Match and If-None-Match; with `at`, the revision at that time',
        'Memento-Datetime': 'With `at`: the requested time (RFC 7089)',
      },
    },
    304: 'Not modified: the ETag in If-None-Match is current',
    400: 'A query parameter is unknown, or `at` cannot be parsed',
    422: '`at` is in the future or not a valid date',
    ...DIAMOND_ERROR_RESPONSES,
  },
  async handler(ctx, { diamonds: { queries, links, context } }: DiamondServices) {
    const id = parseDiamondId(ctx.params)
    const at = ctx.querystring === '' ? undefined : parseAt(ctx.querystring, context.clock())
    if (at !== undefined) return createPastDiamondResponse(ctx, id, at, { queries, links })
    return createDiamondResponse(ctx, id, await queries.findDiamond(id), links)
  },
})

const PAGE_HEADERS = { 'X-Total-Count': 'Number of diamonds on all pages', Link: 'Pagination links (RFC 8288)' }

export const listDiamonds = endpoint({
  operationId: 'listDiamonds',
  method: 'GET',
  path: '/{version}/diamond',
  summary: "List the account's diamonds, newest first by default",
  auth: bearer,
  pathParameters: VERSION_PARAMETERS,
  query: LIST_QUERY,
  group: accountGroup,
  responses: {
    200: {
      description: 'A page of diamonds',
      schema: listOf(DIAMOND),
      headers: PAGE_HEADERS,
    },
    204: { description: 'No diamonds match, or none on this page', headers: PAGE_HEADERS },
    400: 'A query parameter is unknown or cannot be parsed, or `at` was sent, which lists do not support',
    422: 'A query parameter is out of range, or no index supports the combination; the message suggests one that works',
  },
  async handler(ctx, { diamonds: { queries, links } }: DiamondServices) {
    const { account } = ctx.state.principal
    const decode = (cursor: string, sort: Sort) => decodeCursor(links, { account, sort }, cursor)
    const query = parseListQuery(ctx.params.version, ctx.querystring, decode)
    return createListResponse(ctx, query, await queries.list(account, query.filter, query.page), links)
  },
})

type DiamondRequest = EndpointContext<BearerPrincipal, unknown, { readonly version: ApiVersion }>

/** @throws RequestError missing, or forbidden if the diamond belongs to another account */
function createDiamondResponse(
  { state: { principal }, params: { version } }: DiamondRequest,
  id: number,
  { view, ageSeconds }: DiamondReadResult,
  links: SignedLinks,
): HttpResponse {
  const stale = staleHeaders(ageSeconds)
  if (view === undefined) throw new ErrorWithHeaders(stale, new RequestError('missing', `There is no diamond ${id}`))
  const { diamond, changedAt } = view
  if (diamond.owner !== principal.account)
    throw new RequestError('forbidden', `Diamond ${id} belongs to another account`)
  // If signed links in a cached copy may have expired, send the body even though the ETag is unchanged.
  const mayHaveExpiredLinks = !links.areStillValid(linkLifetimes(version, diamond), changedAt)
  return {
    ...ok(diamondJson(version, view, links), { ETag: etagOf(view), ...stale }),
    ignoresIfNoneMatch: mayHaveExpiredLinks,
  }
}

/**
 * Responds with a past state.
 * @param at whole seconds since 1970
 * @throws RequestError missing if the diamond did not exist at that time; forbidden if it exists now and belongs to another
 *   account
 */
async function createPastDiamondResponse(
  ctx: DiamondRequest,
  id: number,
  at: number,
  { queries, links }: Pick<DiamondServices['diamonds'], 'queries' | 'links'>,
): Promise<HttpResponse> {
  const view = await queries.viewAsOf(id, at * 1000 + LAST_MS_OF_SECOND)
  if (view?.diamond.owner !== ctx.state.principal.account)
    createDiamondResponse(ctx, id, await queries.findDiamond(id), links)
  const response = createDiamondResponse(ctx, id, { view }, links)
  return { ...response, headers: { ...response.headers, 'Memento-Datetime': new Date(at * 1000).toUTCString() } }
}

const LAST_MS_OF_SECOND = 999

function createListResponse(
  ctx: DiamondRequest,
  query: ListQuery,
  { total, views, isCurrent, ageSeconds, nextCursor }: DiamondList,
  links: SignedLinks,
): HttpResponse {
  const linkHeader = total > 0 ? linksOf(ctx, query, { total, next: nextCursor }, links) : undefined
  const headers = {
    'X-Total-Count': String(total),
    ...(linkHeader !== undefined && { Link: linkHeader }),
    ...(!isCurrent && PENDING),
    ...staleHeaders(ageSeconds),
  }
  return views.length === 0 ? noContent(headers) : ok(diamondListJson(ctx.params.version, views, links), headers)
}

function linksOf(
  { path, querystring: search, state: { principal } }: EndpointContext<BearerPrincipal>,
  query: ListQuery,
  { total, next }: { readonly total: number; readonly next: KeysetCursor | undefined },
  links: SignedLinks,
): string | undefined {
  const { page } = query
  if (page.after === undefined) return pageLinks(links.baseUrl, { path, search, query }, total)
  const cursor = next && encodeCursor(links, { account: principal.account, sort: page.sort ?? NEWEST_FIRST }, next)
  return cursorLinks(links.baseUrl, { path, search, query }, cursor)
}
