import { answer, type Answer, type Headers } from '../kit/answer.ts'
import type { Family } from '../kit/endpoint.ts'
import { html, htmlDocument, NOTHING, sourceHash, type Html } from '../kit/html.ts'
import { STYLE } from './style.ts'

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type Page = {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** Tags for the head, such as a social preview's. */
  readonly head: Html
  /** Only a public diamond's page may be found by search engines. */
  readonly isPublic: boolean
  /** Shows what is for the owner alone, and is kept nowhere. */
  readonly isOwners?: true
}

/** A link that lets its holder in is for no cache; anything else is asked for again each time, as access may end. */
function cachingOf({ content: { html: text }, isPublic, isOwners }: Page): string {
  if (isOwners === true || text.includes('signature=')) return 'no-store'
  return isPublic ? 'public, no-cache' : 'private, no-cache'
}

/** A whole page without outside resources and scripts. */
export function pageAnswer(page: Page, headers: Headers = {}): Answer {
  const { status, title, content, head, isPublic } = page
  const own = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': cachingOf(page),
    ...(!isPublic && { 'X-Robots-Tag': 'noindex' }),
  }
  const body = `<main>\n${content.html}\n</main>\n`
  return answer(status, htmlDocument({ title, head, style: STYLE, body }), { ...headers, ...own })
}

/** Refusals are pages too. */
export const reportFamily: Family = {
  name: 'report',
  prefixes: ['/diamond'],
  refusals: { media: 'text/html' },
  refusal({ status, faults }, _error, { requestId }) {
    const title = faults.map((fault) => fault.message).join('. ')
    const content = html`<h1>${title}</h1>
      ${status === 404 ? UNKNOWN : NOTHING}
      <p class="soft">Request ${requestId}</p>`
    return pageAnswer({ status, title, content, head: NOTHING, isPublic: false })
  },
}

const UNKNOWN = html`<p>
  It may not exist, or its owner does not show it to everybody. If you have a link from its owner, check that it is
  complete.
</p>`
