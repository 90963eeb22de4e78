import type { Answer } from '../kit/answer.ts'
import { escape, html, htmlDocument, sourceHash, type Html } from '../kit/html.ts'
import { COPY_SCRIPT } from './copy-button.ts'
import { STYLE } from './style.ts'

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  `script-src ${sourceHash(COPY_SCRIPT)}`,
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
  readonly copies?: boolean
}

/** A whole page, without any outside resource; `copies` where it has a copy button. */
export const pageAnswer = ({ status, title, content, copies = false }: Page): Answer => ({
  status,
  headers: HEADERS,
  body: htmlDocument({
    title,
    style: STYLE,
    body:
      `<main>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n` +
      (copies ? `<script>${COPY_SCRIPT}</script>\n` : ''),
  }),
})

/** A field that no browser remembers, corrects or begins with a capital letter. */
export const passphraseInput = (label: string): Html =>
  html`<label for="passphrase">${label}</label>
    <input
      id="passphrase"
      name="passphrase"
      type="password"
      required
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
    />`

/** Time in UTC, which is the same for sender and reader. @param ms milliseconds since 1970 */
export function timeOf(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}

export const GEM =
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" ' +
  'aria-hidden="true"><path d="M7 4h10l4.5 5.5L12 21 2.5 9.5 7 4Z"/><path d="M2.5 9.5h19M12 21 8.5 9.5 12 4l3.5 5.5L12 21Z"/></svg>'
