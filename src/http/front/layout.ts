import type { Answer } from '../kit/answer.ts'
import { escape, htmlDocument, sourceHash, type Html } from '../kit/html.ts'
import { GEM } from '../secret-pages/layout.ts'
import { STYLE as SECRETS_STYLE } from '../secret-pages/style.ts'

/** As the pages of secrets look, with what a form for sharing needs beside. */
const STYLE = `${SECRETS_STYLE}
textarea,select{width:100%;padding:.75rem;font:inherit;color:inherit;background:var(--well);border:1px solid var(--soft);border-radius:.5rem}
textarea{min-height:7rem;resize:vertical}
a{color:var(--deed)}
form>div{margin-bottom:1rem}
nav ul{padding:0;margin:0 0 1rem;list-style:none}
nav li{padding:.5rem 0;border-top:1px solid var(--line)}
`

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type FrontPage = {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** What it shows was typed by somebody: nothing of it is for a cache or a search engine. */
  readonly isPrivate: boolean
}

/** A whole page without scripts and outside resources. */
export const frontPage = ({ status, title, content, isPrivate }: FrontPage): Answer => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept',
    'Cache-Control': isPrivate ? 'no-store' : 'public, no-cache',
    ...(isPrivate && { 'X-Robots-Tag': 'noindex, nofollow' }),
  },
  body: htmlDocument({
    title,
    style: STYLE,
    body: `<main>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n`,
  }),
})
