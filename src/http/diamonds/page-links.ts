import type { ListQuery } from './filters.ts'

type AskedList = { readonly path: string; readonly search: string; readonly query: Pick<ListQuery, 'page'> }

/** Common clients refuse an answer with more than 16 KiB of headers; a filter of hundreds of ids stands in each link. */
const LINK_LIMIT = 12 * 1024

/** RFC 8288: the pages around this one, with the same filters; undefined where they are too long for a header. */
export function pageLinks(address: string, { path, search, query }: AskedList, total: number): string | undefined {
  const { limit, offset } = query.page
  const last = Math.floor((total - 1) / limit) * limit
  const start = `<${address}${path}?${kept(search)}limit=${limit}&offset=`
  const link = (rel: string, from: number) => `${start}${from}>; rel="${rel}"`
  const links = [link('first', 0)]
  if (offset > 0) links.push(link('prev', Math.max(0, Math.min(offset, last + limit) - limit)))
  if (offset + limit < total) links.push(link('next', offset + limit))
  links.push(link('last', last))
  const text = links.join(', ')
  return text.length <= LINK_LIMIT ? text : undefined
}

/** The query's other parameters, written as a URL needs them. */
function kept(search: string): string {
  if (search === '') return ''
  const parameters = new URLSearchParams(search)
  parameters.delete('limit')
  parameters.delete('offset')
  return parameters.size === 0 ? '' : `${parameters.toString()}&`
}
