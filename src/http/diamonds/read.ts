import { timingSafeEqual } from 'node:crypto'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { Refusal } from '../../domain/decider.ts'
import type { DiamondList, FoundDiamond } from '../../projections/diamonds/diamond-queries.ts'
import { etagOf } from '../../projections/diamonds/diamond-view.ts'
import { NEWEST_FIRST, type Sort } from '../../projections/diamonds/list-members.ts'
import type { Place } from '../../projections/diamonds/list-plan.ts'
import { bodyText, linkLifetimes, listText } from '../../representations/diamond/body.ts'
import { DIAMOND } from '../../representations/diamond/schemas.ts'
import { noContent, ok, type Answer } from '../kit/answer.ts'
import { bearer, type Caller } from '../kit/authenticate.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { owned, RefusedWith } from '../kit/errors.ts'
import type { Links } from '../kit/links.ts'
import { AT_QUERY, LIST_QUERY, parseAt, parseListQuery, type ListQuery } from './filters.ts'
import { pageLinks, placeLinks } from './page-links.ts'
import { ALL, idOf, listOf, ONE, REFUSED_ONE, type DiamondServices } from './resource.ts'

/** The list that a place is in: somebody's, in an order. */
export type Listed = { readonly account: number; readonly sort: string }

type Marks = Pick<Links, 'mark'>

/**
 * A place in a list as clients carry it: opaque, good for this account and this order alone, and as long as links are signed
 * by the same key. It holds what the last diamond of the page was sorted by, so it stays where it is whatever is written.
 */
function cursorOf(marks: Marks, listed: Listed, place: Place): string {
  const text = JSON.stringify(place)
  return Buffer.concat([marks.mark(markedText(listed, text)), Buffer.from(text)]).toString('base64url')
}

/** @returns undefined for what was not given out for this list */
function placeOf(marks: Marks, listed: Listed, cursor: string): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // Other texts that stand for the same bytes were not given out either.
  if (bytes.length <= MARK || bytes.toString('base64url') !== cursor) return undefined
  const text = bytes.toString('utf8', MARK)
  if (!timingSafeEqual(bytes.subarray(0, MARK), marks.mark(markedText(listed, text)))) return undefined
  return JSON.parse(text) as Place
}

const markedText = ({ account, sort }: Listed, text: string) => `list\n${account}\n${sort}\n${text}`

/** Bytes. */
const MARK = 16

export const readDiamond = endpoint({
  name: 'readDiamond',
  method: 'GET',
  path: '/{version}/diamond/{id}',
  about: 'One diamond, as it is or as it was at a time.',
  who: bearer,
  parameters: ONE,
  query: AT_QUERY,
  family: owned,
  answers: {
    200: {
      about: 'The diamond',
      schema: DIAMOND,
      headers: {
        ETag: 'Its revision, for If-Match and If-None-Match; with at, that of then',
        'Memento-Datetime': 'With at: the time that it is shown of (RFC 7089)',
      },
    },
    304: "The caller's copy, named by If-None-Match, is still the one there is",
    400: 'at is not readable',
    422: 'at is in the future, or no date of the calendar',
    ...REFUSED_ONE,
  },
  run(asked, { diamonds: { queries, links, inventory } }: DiamondServices) {
    const id = idOf(asked.params)
    const at = asked.search === '' ? undefined : parseAt(asked.search, inventory.clock())
    if (at !== undefined) return answerThen(asked, id, at, { queries, links })
    const found = queries.one(id)
    return found instanceof Promise
      ? found.then((later) => answerOne(asked, id, later, links))
      : answerOne(asked, id, found, links)
  },
})

const PAGE_HEADERS = { 'X-Total-Count': 'Of all pages', Link: 'The pages around this one (RFC 8288)' }

export const listDiamonds = endpoint({
  name: 'listDiamonds',
  method: 'GET',
  path: '/{version}/diamond',
  about: "The account's diamonds, the newest first unless told, a page at a time.",
  who: bearer,
  parameters: ALL,
  query: LIST_QUERY,
  family: owned,
  answers: {
    200: {
      about: 'A page',
      schema: listOf(DIAMOND),
      headers: PAGE_HEADERS,
    },
    204: { about: 'There are none, or none on this page', headers: PAGE_HEADERS },
    400: 'The query is not readable, or asks for a time (at), which one diamond alone can be asked for',
    422: 'The query asks for what there can not be, or for a list that no index serves: it names one that is',
  },
  run(asked, { diamonds: { queries, links } }: DiamondServices) {
    const { account } = asked.asker
    const place = (cursor: string, sort: Sort) => placeOf(links, { account, sort }, cursor)
    const query = parseListQuery(asked.params.version, asked.search, place)
    const list = queries.list(asked.asker.account, query.filter, query.page)
    return list instanceof Promise
      ? list.then((later) => answerList(asked, query, later, links))
      : answerList(asked, query, list, links)
  },
})

type AskedInVersion = Asked<Caller, undefined, { readonly version: ApiVersion }>

/** @throws Refusal missing, or forbidden for another account's diamond */
function answerOne(
  { asker, params: { version } }: AskedInVersion,
  id: number,
  { view, age }: FoundDiamond,
  links: Links,
): Answer {
  const stale = staleHeaders(age)
  if (view === undefined) throw new RefusedWith(stale, new Refusal('missing', `There is no diamond ${id}`))
  const { diamond, changedAt } = view
  if (diamond.owner !== asker.account) throw new Refusal('forbidden', `Diamond ${id} belongs to another account`)
  // A client whose copy has links that have expired needs new ones, though the ETag is the same.
  const isRenewed = !links.stillOpen(linkLifetimes(version, diamond), changedAt)
  return { ...ok(bodyText(version, view, links), { ETag: etagOf(view), ...stale }), isRenewed }
}

/**
 * Whose a diamond is, is asked of it as it is now; of a deleted one, of what it was.
 * @param at whole seconds since 1970
 * @throws Refusal missing, also for a diamond that there was not yet, or not any more
 */
async function answerThen(
  asked: AskedInVersion,
  id: number,
  at: number,
  { queries, links }: Pick<DiamondServices['diamonds'], 'queries' | 'links'>,
): Promise<Answer> {
  const view = await queries.asOf(id, at * 1000 + LAST_MS)
  if (view?.diamond.owner !== asked.asker.account) answerOne(asked, id, await queries.one(id), links)
  const answer = answerOne(asked, id, { view }, links)
  return { ...answer, headers: { ...answer.headers, 'Memento-Datetime': new Date(at * 1000).toUTCString() } }
}

/** The last millisecond of a second. */
const LAST_MS = 999

function answerList(
  asked: AskedInVersion,
  query: ListQuery,
  { total, views, current, age, next }: DiamondList,
  links: Links,
): Answer {
  const pages = total > 0 ? linksOf(asked, query, { total, next }, links) : undefined
  const headers = {
    'X-Total-Count': String(total),
    ...(pages !== undefined && { Link: pages }),
    ...(!current && PENDING),
    ...staleHeaders(age),
  }
  return views.length === 0 ? noContent(headers) : ok(listText(asked.params.version, views, links), headers)
}

function linksOf(
  { path, search, asker }: Asked<Caller, undefined, unknown>,
  query: ListQuery,
  { total, next }: { readonly total: number; readonly next: Place | undefined },
  links: Links,
): string | undefined {
  const { page } = query
  if (page.after === undefined) return pageLinks(links.address, { path, search, query }, total)
  const cursor = next && cursorOf(links, { account: asker.account, sort: page.sort ?? NEWEST_FIRST }, next)
  return placeLinks(links.address, { path, search, query }, cursor)
}
