import type { Page } from '../../projections/diamonds/list-query.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'

type Placed = Pick<Page, 'limit' | 'offset'>

const count = (number: number) => number.toLocaleString('en')

/** `Stones 26 to 50 of 1,234` */
export function placeText(total: number, { offset }: Placed, shown: number): string {
  if (total === 0) return 'No stones'
  const all = total === 1 ? '1 stone' : `${count(total)} stones`
  return shown === 0 || shown === total
    ? all
    : `Stones ${count(offset + 1)} to ${count(offset + shown)} of ${count(total)}`
}

/** Links to the pages around this one, with the same filters. */
export function pagesNav(query: URLSearchParams, { limit, offset }: Placed, total: number): Html {
  const last = Math.max(0, Math.floor((total - 1) / limit) * limit)
  const at = (name: string, place: number) => html`<li><a href="${addressOf(query, place)}">${name}</a></li>`
  const links = [
    ...(offset > 0 ? [at('First', 0), at('Previous', Math.max(0, Math.min(offset, last + limit) - limit))] : []),
    ...(offset + limit < total ? [at('Next', offset + limit), at('Last', last)] : []),
  ]
  if (links.length === 0) return NOTHING
  return html`<nav aria-label="Pages">
    <ul class="pages">
      ${links}
    </ul>
  </nav>`
}

/** Relative to the list itself. */
function addressOf(query: URLSearchParams, offset: number): string {
  const own = new URLSearchParams(query)
  own.delete('after')
  own.set('offset', String(offset))
  return `?${own.toString()}`
}
