import type { ListQuery } from './list-query.ts'

type PagedRequest = { readonly path: string; readonly search: string; readonly query: Pick<ListQuery, 'page'> }

/** Common clients refuse an answer with more than 16 KiB of headers; a filter of hundreds of ids stands in each link. */
const LINK_LIMIT = 12 * 1024

/** RFC 8288: the pages around this one, with the same filters; undefined where they are too long for a header. */
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
 * As `pageLinks`, of a list that is read by places: which page that is, nobody knows.
 * @param next cursor of the page behind this one, if there is one
 */
export function cursorLinks(baseUrl: string, request: PagedRequest, next: string | undefined): string | undefined {
  const link = linkTo(baseUrl, request)
  const links = [link('first', 'after=')]
  if (next !== undefined) links.push(link('next', `after=${next}`))
  return joinLinks(links)
}

function linkTo(baseUrl: string, { path, search, query }: PagedRequest) {
  const start = `<${baseUrl}${path}?${otherParameters(search)}limit=${query.page.limit}&`
  return (rel: string, where: string) => `${start}${where}>; rel="${rel}"`
}

function joinLinks(links: readonly string[]): string | undefined {
  const text = links.join(', ')
  return text.length <= LINK_LIMIT ? text : undefined
}

/** The query's other parameters, written as a URL needs them. */
function otherParameters(search: string): string {
  if (search === '') return ''
  const parameters = new URLSearchParams(search)
  for (const name of PAGE_PARAMETERS) parameters.delete(name)
  return parameters.size === 0 ? '' : `${parameters.toString()}&`
}

const PAGE_PARAMETERS = ['limit', 'offset', 'after']
