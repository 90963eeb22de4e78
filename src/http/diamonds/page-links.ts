import type { ListQuery } from './filters.ts'

type AskedList = { readonly path: string; readonly search: string; readonly query: Pick<ListQuery, 'page'> }

/** Common clients refuse an answer with more than 16 KiB of headers; a filter of hundreds of ids stands in each link. */
const LINK_LIMIT = 12 * 1024

/** RFC 8288: the pages around this one, with the same filters; undefined where they are too long for a header. */
export function pageLinks(address: string, asked: AskedList, total: number): string | undefined {
  const { limit, offset } = asked.query.page
  const last = Math.floor((total - 1) / limit) * limit
  const link = linkTo(address, asked)
  const links = [link('first', 'offset=0')]
  if (offset > 0) links.push(link('prev', `offset=${Math.max(0, Math.min(offset, last + limit) - limit)}`))
  if (offset + limit < total) links.push(link('next', `offset=${offset + limit}`))
  links.push(link('last', `offset=${last}`))
  return joined(links)
}

/**
 * As `pageLinks`, of a list that is read by places: which page that is, nobody knows.
 * @param next cursor of the page behind this one, if there is one
 */
export function placeLinks(address: string, asked: AskedList, next: string | undefined): string | undefined {
  const link = linkTo(address, asked)
  const links = [link('first', 'after=')]
  if (next !== undefined) links.push(link('next', `after=${next}`))
  return joined(links)
}

function linkTo(address: string, { path, search, query }: AskedList) {
  const start = `<${address}${path}?${kept(search)}limit=${query.page.limit}&`
  return (rel: string, where: string) => `${start}${where}>; rel="${rel}"`
}

function joined(links: readonly string[]): string | undefined {
  const text = links.join(', ')
  return text.length <= LINK_LIMIT ? text : undefined
}

/** The query's other parameters, written as a URL needs them. */
function kept(search: string): string {
  if (search === '') return ''
  const parameters = new URLSearchParams(search)
  for (const name of PLACES) parameters.delete(name)
  return parameters.size === 0 ? '' : `${parameters.toString()}&`
}

const PLACES = ['limit', 'offset', 'after']
