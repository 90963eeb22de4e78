import { createHash } from 'node:crypto'
import { escape, html, type Html } from '../kit/html.ts'
import type { Ctx } from '../kit/request.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Nothing of these pages is for a cache, a frame, a search engine or the next page. */
const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
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
export function sendPage(ctx: Ctx, { status, title, content, copies = false }: Page): void {
  ctx.status = status
  ctx.set(HEADERS)
  ctx.type = 'text/html; charset=utf-8'
  ctx.body =
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n' +
    `<title>${escape(title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<main>\n${GEM}\n<h1>${escape(title)}</h1>\n` +
    `${content.html}\n</main>\n${copies ? `<script>${SCRIPT}</script>\n` : ''}</body>\n</html>\n`
}

/** The button stays hidden where no script runs; `what` says what is copied. */
export const copyButton = (what: string): Html =>
  html`<button id="copy" type="button" class="quiet" hidden>Copy ${what}</button>
    <p id="copied" role="status" class="soft"></p>`

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

const GEM =
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" ' +
  'aria-hidden="true"><path d="M7 4h10l4.5 5.5L12 21 2.5 9.5 7 4Z"/><path d="M2.5 9.5h19M12 21 8.5 9.5 12 4l3.5 5.5L12 21Z"/></svg>'
