import type { Answer, Headers } from '../kit/answer.ts'
import type { Family } from '../kit/endpoint.ts'
import { escape, html, htmlDocument, sourceHash, type Html } from '../kit/html.ts'
import { GEM } from '../secret-pages/layout.ts'
import { STYLE } from './style.ts'

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Nothing of these pages is for a cache, a frame, a search engine or the next page. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

export type Page = {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** A list takes all the width there is. */
  readonly isWide?: true
}

/** A whole page without scripts and outside resources. */
export const pageAnswer = ({ status, title, content, isWide }: Page, headers: Headers = {}): Answer => ({
  status,
  headers: { ...headers, ...HEADERS },
  body: htmlDocument({
    title,
    style: STYLE,
    body: `<main${isWide === true ? ' class="wide"' : ''}>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n`,
  }),
})

/** What is wrong, where it is read out at once. */
export const alert = (message: string): Html => html`<p class="alert" role="alert">${message}</p>`

/** Refusals are pages too. */
export const inventoryFamily: Family = {
  name: 'inventory pages',
  prefixes: ['/inventory'],
  refusals: { media: 'text/html' },
  refusal({ status, faults }, _error, { requestId }) {
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Request ${requestId}</p>`
    return pageAnswer({ status, title: TITLES[status] ?? 'That did not work', content })
  },
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'This page is only for its own forms',
  404: 'There is nothing here',
  429: 'Too many attempts',
  503: 'This is not available at the moment',
}
