import { Refusal } from '../../domain/refusal.ts'
import type { DiamondAnswer, DiamondList, DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { PRIVATE } from '../kit/app.ts'
import type { Links } from '../kit/links.ts'
import { callerOf, type Step } from '../kit/request.ts'
import type { DirectAnswer } from '../kit/direct.ts'
import { PENDING, staleHeaders } from '../kit/consistency.ts'
import { idOf, sendAnswer } from './answer.ts'
import { isNotModified } from './conditions.ts'
import { parseListQuery, type ListQuery } from './filters.ts'
import { pageLinks } from './page-links.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

export type DiamondReads = { readonly queries: DiamondQueries; readonly links: Links }

/** What a read answers. */
export type ReadAnswer = DirectAnswer & { readonly status: 200 | 204 | 304 }

export function getOne(version: ApiVersion, reads: DiamondReads): Step {
  return async (ctx) => {
    const id = idOf(ctx)
    const found = await reads.queries.one(version, id)
    const asked = { id, account: callerOf(ctx).account }
    sendAnswer(ctx, answerOne(reads, asked, found, ctx.req.headers['if-none-match']))
  }
}

export function getList(version: ApiVersion, reads: DiamondReads): Step {
  return async (ctx) => {
    const query = parseListQuery(version, ctx.querystring)
    const list = await reads.queries.list(version, callerOf(ctx).account, query.filter, query.page)
    sendAnswer(ctx, answerList(reads, { path: ctx.path, search: ctx.querystring, query }, list))
  }
}

export type AskedOne = { readonly id: number; readonly account: number }

/** @throws Refusal missing, or forbidden for another account's diamond */
export function answerOne(
  { links }: DiamondReads,
  { id, account }: AskedOne,
  found: DiamondAnswer | undefined,
  ifNoneMatch: string | undefined,
): ReadAnswer {
  if (found === undefined) throw new Refusal('missing', `There is no diamond ${id}`)
  if (found.owner !== account) throw new Refusal('forbidden', `Diamond ${id} belongs to another account`)
  const headers = { ...PRIVATE, ETag: found.etag, ...staleHeaders(found.age) }
  // A copy whose links have ended is not the one there is, whatever its ETag says.
  const { body, changedAt } = found
  if (isNotModified(ifNoneMatch, found.etag) && links.stillOpen(body, changedAt)) return { status: 304, headers }
  return { status: 200, headers, body: links.finish(body) }
}

export type AskedList = { readonly path: string; readonly search: string; readonly query: ListQuery }

export function answerList({ links }: DiamondReads, asked: AskedList, list: DiamondList): ReadAnswer {
  const { total, bodies, current, age } = list
  const pages = total > 0 ? pageLinks(links.address, asked, total) : undefined
  const headers = {
    ...PRIVATE,
    'X-Total-Count': String(total),
    ...(pages !== undefined && { Link: pages }),
    ...(!current && PENDING),
    ...staleHeaders(age),
  }
  if (bodies.length === 0) return { status: 204, headers }
  return { status: 200, headers, body: `[${links.finish(bodies.join(','))}]` }
}
