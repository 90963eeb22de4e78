import { z } from 'zod'
import { fileLinkRevision } from '../../domain/diamond/diamond.ts'
import { InvalidEventPayload, isDecodeError } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import {
  toHistoryEntry,
  faultOf,
  readDiamondHistory,
  API_EVENT_TYPES,
  type DiamondHistory,
} from '../../projections/history/diamond-history.ts'
import type { FieldChange, HistoryEntry } from '../../projections/history/history-entry.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { RequestError } from '../../domain/request-error.ts'
import { LINK_LIFETIMES } from '../../representations/json.ts'
import { noContent, ok } from '../kit/response.ts'
import { bearer } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import type { SignedLinks } from '../kit/signed-links.ts'
import { PAGE_QUERY, queryReader } from '../kit/parameters/query.ts'
import { pageLinks } from './page-links.ts'
import { ownersLink } from '../report/owners-page.ts'
import { DIAMOND_ID, parseDiamondId, DIAMOND_ERROR_RESPONSES, type DiamondServices } from './resource.ts'

const ENTRY = z
  .object({
    revision: z
      .int()
      .describe(
        'The revision of the diamond, counting its own events from 0. For scores, the revision that was scored.',
      ),
    at: z.iso.datetime({ offset: true }),
    type: z.enum(Object.values(API_EVENT_TYPES)).meta({ id: 'HistoryType' }),
    by: z
      .object({
        account: z.string().nullable().describe('The e-mail address of the account; null if it was not an account.'),
        client: z.string().nullable().describe('The name of the client; null if none was recorded.'),
        via: z.string().meta({ examples: ['http'] }),
      })
      .nullable()
      .describe('null for changes made by the service itself.'),
    request: z.string().describe('The X-Request-Id of the request that caused it.'),
    changes: z
      .array(z.object({ field: z.string(), from: z.unknown(), to: z.unknown() }))
      .describe('The changed fields with their old and new values, as in v4; null means no value.'),
  })
  .meta({ id: 'HistoryEntry' })

const PAGE_HEADERS = {
  'X-Total-Count': 'Number of entries on all pages',
  Link: 'Pagination links (RFC 8288); `alternate` is the web page for the owner, valid for 24 hours',
}

const readPage = queryReader(PAGE_QUERY)

export const readHistory = endpoint({
  operationId: 'readHistory',
  method: 'GET',
  path: '/v4/diamond/{id}/history',
  summary: 'List the history of a diamond, oldest entry first. Also available after the diamond was deleted.',
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  query: PAGE_QUERY,
  group: accountGroup,
  responses: {
    200: {
      description: 'A page of entries',
      schema: z.array(ENTRY),
      headers: PAGE_HEADERS,
    },
    204: { description: 'No entries on this page', headers: PAGE_HEADERS },
    400: 'A query parameter is unknown or cannot be parsed',
    422: 'A query parameter is out of range',
    ...DIAMOND_ERROR_RESPONSES,
  },
  async handler(ctx, { diamonds: { context, links, people } }: DiamondServices) {
    const id = parseDiamondId(ctx.params)
    const page = readPage(ctx.querystring)
    const history = await readDiamondHistory(context.store, id)
    checkOwner(history, id, ctx.state.principal.account)
    const actorResolver = new ActorResolver(context.store, people)
    const transitions = history.transitions.slice(page.offset, page.offset + page.limit)
    const entries = await Promise.all(
      transitions.map(async (transition) => {
        const fault = faultOf(transition)
        if (fault !== undefined) throw unreadable(transition.event, fault)
        return toHistoryResponseEntry(
          toHistoryEntry(transition, await actorResolver.actorOf(transition.event)),
          history,
          links,
        )
      }),
    )
    const total = history.transitions.length
    const paginationLinks = pageLinks(
      links.baseUrl,
      { path: ctx.path, search: ctx.querystring, query: { page } },
      total,
    )
    const link = historyLinkHeader(paginationLinks, history, links)
    const headers = { 'X-Total-Count': String(total), ...(link !== '' && { Link: link }) }
    return entries.length === 0 ? noContent(headers) : ok(entries, headers)
  },
})

/** Pagination links, and a link to the owner's web page unless the diamond was deleted. */
function historyLinkHeader(
  paginationLinks: string | undefined,
  { lastView, isLive }: DiamondHistory,
  links: SignedLinks,
): string {
  const alternateLinks =
    isLive && lastView !== undefined
      ? [`<${ownersLink(links, lastView.diamond)}>; rel="alternate"; type="text/html"`]
      : []
  return [...(paginationLinks === undefined ? [] : [paginationLinks]), ...alternateLinks].join(', ')
}

/**
 * @throws RequestError missing, or forbidden if another account owns the diamond; for a deleted diamond, other accounts get
 *   missing. InvalidEventPayload or UnsupportedEventVersion if not even the first event can be decoded
 */
export function checkOwner({ transitions, lastView, isLive }: DiamondHistory, id: number, account: number): void {
  const [first] = transitions
  if (lastView === undefined && first?.fault !== undefined) throw unreadable(first.event, first.fault)
  if (lastView?.diamond.owner === account) return
  if (isLive) throw new RequestError('forbidden', `Diamond ${id} belongs to another account`)
  throw new RequestError('missing', `There is no diamond ${id}`)
}

const unreadable = ({ stream, revision }: StoredEvent, cause: unknown) =>
  isDecodeError(cause) ? cause : new InvalidEventPayload(`${stream}@${revision} cannot be shown`, { cause })

/** Converts an entry for the owner, without the members that are for the operator only. */
const toHistoryResponseEntry = (
  { revision, at, type, by, request, changes }: HistoryEntry,
  history: DiamondHistory,
  links: SignedLinks,
): z.input<typeof ENTRY> => ({
  revision,
  at,
  type: type as z.input<typeof ENTRY>['type'],
  by,
  request,
  changes: changes.map((change) => signReportLinks(change, history, links)),
})

/** Signs the links to report files with the diamond's current access revision. */
function signReportLinks(
  { field, from, to }: FieldChange,
  { lastView }: DiamondHistory,
  links: SignedLinks,
): FieldChange {
  if (field !== 'certifications' || lastView === undefined) return { field, from, to }
  const withSignedFile = (report: unknown) => {
    const path = isReport(report) ? report.file : null
    if (path === null) return report
    return {
      ...(report as object),
      file: links.signed(path, LINK_LIFETIMES.oneDay, fileLinkRevision(lastView.diamond)),
    }
  }
  return { field, from: withSignedFile(from), to: withSignedFile(to) }
}

const isReport = (value: unknown): value is { readonly file: string | null } =>
  typeof value === 'object' && value !== null && 'file' in value
