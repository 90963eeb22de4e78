import { z } from 'zod'
import { fileRevision } from '../../domain/diamond/diamond.ts'
import { BrokenEvent, isUndecodable } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { entryOf, faultOf, readPast, TYPES, type DiamondPast } from '../../projections/history/diamond.ts'
import type { Change, Entry } from '../../projections/history/entry.ts'
import { Who } from '../../projections/history/who.ts'
import { Refusal } from '../../domain/decider.ts'
import { LASTS } from '../../representations/json.ts'
import { noContent, ok } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import type { Links } from '../kit/links.ts'
import { PAGE_QUERY, queryReader } from '../kit/parameters/query.ts'
import { pageLinks } from './page-links.ts'
import { ownersLink } from '../report/owners-page.ts'
import { DIAMOND_ID, idOf, REFUSED_ONE, type DiamondServices } from './resource.ts'

const ENTRY = z
  .object({
    revision: z.int().describe("Counts the diamond's own events from 0; of scores, the revision that was scored."),
    at: z.iso.datetime({ offset: true }),
    type: z.enum(Object.values(TYPES)).meta({ id: 'HistoryType' }),
    by: z
      .object({
        account: z.string().nullable().describe('An e-mail address; null where it was no account.'),
        client: z.string().nullable().describe("The client's name; null where none was noted."),
        via: z.string().meta({ examples: ['http'] }),
      })
      .nullable()
      .describe('null for what the service did by itself.'),
    request: z.string().describe('The X-Request-Id of what asked for it.'),
    changes: z
      .array(z.object({ field: z.string(), from: z.unknown(), to: z.unknown() }))
      .describe('Each field whose value differs, from what to what, as v4 shows it; null is nothing.'),
  })
  .meta({ id: 'HistoryEntry' })

const PAGE_HEADERS = {
  'X-Total-Count': 'Of all pages',
  Link: 'The pages around this one (RFC 8288); alternate: the page for people, open for a day',
}

const readPage = queryReader(PAGE_QUERY)

export const readHistory = endpoint({
  name: 'readHistory',
  method: 'GET',
  path: '/v4/diamond/{id}/history',
  about: 'What happened to a diamond, oldest first, a page at a time; of a deleted one too.',
  who: bearer,
  parameters: { id: DIAMOND_ID },
  query: PAGE_QUERY,
  family: owned,
  answers: {
    200: {
      about: 'A page',
      schema: z.array(ENTRY),
      headers: PAGE_HEADERS,
    },
    204: { about: 'There is nothing on this page', headers: PAGE_HEADERS },
    400: 'The query is not readable',
    422: 'The query asks for what there can not be',
    ...REFUSED_ONE,
  },
  async run(asked, { diamonds: { inventory, links, people } }: DiamondServices) {
    const id = idOf(asked.params)
    const page = readPage(asked.search)
    const past = await readPast(inventory.store, id)
    checkOwner(past, id, asked.asker.account)
    const who = new Who(inventory.store, people)
    const steps = past.steps.slice(page.offset, page.offset + page.limit)
    const entries = await Promise.all(
      steps.map(async (step) => {
        const fault = faultOf(step)
        if (fault !== undefined) throw unreadable(step.event, fault)
        return answered(entryOf(step, await who.of(step.event)), past, links)
      }),
    )
    const total = past.steps.length
    const around = pageLinks(links.address, { path: asked.path, search: asked.search, query: { page } }, total)
    const link = linksBeside(around, past, links)
    const headers = { 'X-Total-Count': String(total), ...(link !== '' && { Link: link }) }
    return entries.length === 0 ? noContent(headers) : ok(entries, headers)
  },
})

/** The pages around this one, and the same for people where the stone still is. */
function linksBeside(around: string | undefined, { last, isLive }: DiamondPast, links: Links): string {
  const page =
    isLive && last !== undefined ? [`<${ownersLink(links, last.diamond)}>; rel="alternate"; type="text/html"`] : []
  return [...(around === undefined ? [] : [around]), ...page].join(', ')
}

/**
 * Another account is told of a deleted diamond what it is told everywhere.
 * @throws Refusal; BrokenEvent, NewerSchema where nothing of the diamond can be understood
 */
export function checkOwner({ steps, last, isLive }: DiamondPast, id: number, account: number): void {
  const [first] = steps
  if (last === undefined && first?.fault !== undefined) throw unreadable(first.event, first.fault)
  if (last?.diamond.owner === account) return
  if (isLive) throw new Refusal('forbidden', `Diamond ${id} belongs to another account`)
  throw new Refusal('missing', `There is no diamond ${id}`)
}

const unreadable = ({ stream, revision }: StoredEvent, cause: unknown) =>
  isUndecodable(cause) ? cause : new BrokenEvent(`${stream}@${revision} can not be shown`, { cause })

/** An entry as its stone's owner reads it: what is an operator's business stays with the operator. */
const answered = (
  { revision, at, type, by, request, changes }: Entry,
  past: DiamondPast,
  links: Links,
): z.input<typeof ENTRY> => ({
  revision,
  at,
  type: type as z.input<typeof ENTRY>['type'],
  by,
  request,
  changes: changes.map((change) => withOpenFile(change, past, links)),
})

/** Links of reports open by the access of now. */
function withOpenFile({ field, from, to }: Change, { last }: DiamondPast, links: Links): Change {
  if (field !== 'certifications' || last === undefined) return { field, from, to }
  const opened = (report: unknown) => {
    const path = isReport(report) ? report.file : null
    if (path === null) return report
    return { ...(report as object), file: links.signed(path, LASTS.aDay, fileRevision(last.diamond)) }
  }
  return { field, from: opened(from), to: opened(to) }
}

const isReport = (value: unknown): value is { readonly file: string | null } =>
  typeof value === 'object' && value !== null && 'file' in value
