import { Refusal } from '../../domain/refusal.ts'
import type { ApiVersion } from '../../domain/diamond/readers.ts'
import type { Page } from '../../projections/diamond-queries.ts'
import { callerOf, type Ctx, type Step } from '../request.ts'
import { idOf, markPending, sendJson } from './answer.ts'
import { isNotModified } from './conditions.ts'
import { parseListQuery } from './filters.ts'
import type { DiamondService } from './routes.ts'

export function getOne(version: ApiVersion, { queries, links }: DiamondService): Step {
  return async (ctx) => {
    const id = idOf(ctx)
    const answer = await queries.one(version, id)
    if (answer === undefined) throw new Refusal('missing', `There is no diamond ${id}`)
    if (answer.owner !== callerOf(ctx).account)
      throw new Refusal('forbidden', `Diamond ${id} belongs to another account`)
    ctx.res.setHeader('ETag', answer.etag)
    if (isNotModified(ctx.req.headers['if-none-match'], answer.etag)) ctx.status = 304
    else sendJson(ctx, 200, links.finish(answer.body))
  }
}

export function getList(version: ApiVersion, { queries, links }: DiamondService): Step {
  return async (ctx) => {
    const { filter, page } = parseListQuery(version, ctx.querystring)
    const { total, bodies, current } = await queries.list(version, callerOf(ctx).account, filter, page)
    if (!current) markPending(ctx)
    ctx.set('X-Total-Count', String(total))
    const pages = total > 0 ? pageLinks(ctx, links.address, page, total) : ''
    if (pages !== '' && pages.length <= LINK_LIMIT) ctx.set('Link', pages)
    if (bodies.length === 0) ctx.status = 204
    else sendJson(ctx, 200, `[${links.finish(bodies.join(','))}]`)
  }
}

/** Common clients refuse an answer with more than 16 KiB of headers; a filter of hundreds of ids stands in each link. */
const LINK_LIMIT = 12 * 1024

/** RFC 8288: the pages around this one, with the same filters. */
function pageLinks(ctx: Ctx, address: string, { limit, offset }: Page, total: number): string {
  const last = Math.floor((total - 1) / limit) * limit
  const pages: [rel: string, offset: number][] = [['first', 0]]
  if (offset > 0) pages.push(['prev', Math.max(0, Math.min(offset, last + limit) - limit)])
  if (offset + limit < total) pages.push(['next', offset + limit])
  pages.push(['last', last])
  const parameters = new URLSearchParams(ctx.querystring)
  return pages
    .map(([rel, start]) => {
      parameters.set('limit', String(limit))
      parameters.set('offset', String(start))
      return `<${address}${ctx.path}?${parameters.toString()}>; rel="${rel}"`
    })
    .join(', ')
}
