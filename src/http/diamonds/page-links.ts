import type { ListQuery } from './list-query.ts'

type PagedRequest = { readonly path: string; readonly search: string; readonly query: Pick<ListQuery, 'page'> }

/** Common clients reject more than 16 KiB of response headers, and every link repeats the filters, which may be long. */
const LINK_LIMIT = 12 * 1024

/** The Link header (RFC 8288) for offset pagination; undefined if it would be too long. */
export function pageLinks(baseUrl: string, request: PagedRequest, total: number): string | undefined {
  const { limit, offset } = request.query.page
  const last = Math.floor((total - 1) / limit) * limit
  const link = linkTo(baseUrl, request)
  const links = [link('first', 'offset=0')]
  if (offset > 0) links.push(link('prev', `offset=${Math.max(0, Math.min(offset, last + limit) - limit)}`))
  if (offset + limit < total) links.push(link('next', `offset=${offset + limit}`))
  links.push(link('last', `offset=${last}`))
  return joinLinks(links)
}

/**
 * The Link header for keyset pagination, which has no `prev` and `last`; undefined if it would be too long.
 * @param next cursor of the next page, if there is one
 */
export function cursorLinks(baseUrl: string, request: PagedRequest, next: string | undefined): string | undefined {
  const link = linkTo(baseUrl, request)
  const links = [link('first', 'after=')]
  if (next !== undefined) links.push(link('next', `after=${next}`))
  return joinLinks(links)
}

function linkTo(baseUrl: string, { path, search, query }: PagedRequest) {
  const start = `<${baseUrl}${path}?${otherParameters(search)}limit=${query.page.limit}&`
  return (rel: string, parameter: string) => `${start}${parameter}>; rel="${rel}"`
}

function joinLinks(links: readonly string[]): string | undefined {
  const text = links.join(', ')
  return text.length <= LINK_LIMIT ? text : undefined
}

/** The query without the pagination parameters. */
function otherParameters(search: string): string {
  if (search === '') return ''
  const parameters = new URLSearchParams(search)
  for (const name of PAGE_PARAMETERS) parameters.delete(name)
  return parameters.size === 0 ? '' : `${parameters.toString()}&`
}

const PAGE_PARAMETERS = ['limit', 'offset', 'after']
