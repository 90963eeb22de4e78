import { createHash } from 'node:crypto'
import { escape, type Html } from '../kit/html.ts'
import type { Ctx } from '../kit/request.ts'
import { STYLE } from './style.ts'

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
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
}

/** A link that lets its holder in is for no cache; anything else is asked for again each time, as access may end. */
function cachingOf({ html: text }: Html, isPublic: boolean): string {
  if (text.includes('signature=')) return 'no-store'
  return isPublic ? 'public, no-cache' : 'private, no-cache'
}

/** A whole page without outside resources and scripts. */
export function sendPage(ctx: Ctx, { status, title, content, head, isPublic }: Page): void {
  ctx.status = status
  ctx.set({
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': cachingOf(content, isPublic),
    ...(!isPublic && { 'X-Robots-Tag': 'noindex' }),
  })
  ctx.type = 'text/html; charset=utf-8'
  ctx.body =
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n' +
    `<title>${escape(title)}</title>\n${head.html}\n<style>${STYLE}</style>\n</head>\n` +
    `<body>\n<main>\n${content.html}\n</main>\n</body>\n</html>\n`
}
