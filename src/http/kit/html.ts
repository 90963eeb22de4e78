import { createHash } from 'node:crypto'

/** Finished HTML, safe to be put into a page. */
export type Html = { readonly html: string }

/**
 * Makes HTML of a template: every text put in is escaped, HTML is not, a list is joined. A carriage return is written as
 * a reference, since a browser reads a bare one as a line feed.
 */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const text = parts.reduce((done, part, index) => done + renderValue(values[index - 1] ?? '') + part)
  return { html: text }
}

export const NOTHING: Html = { html: '' }

function renderValue(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escape(value)
  return 'html' in value ? value.html : value.map((one) => one.html).join('')
}

/** A text as it stands in HTML, between tags or in quotes. */
export const escape = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;')

export type HtmlDocument = {
  readonly title: string
  /** What else its head says. */
  readonly head?: Html
  readonly style: string
  readonly body: string
}

/** A whole page in English that needs nothing from elsewhere, an icon neither. */
export const htmlDocument = ({ title, head = NOTHING, style, body }: HtmlDocument): string =>
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n' +
  `<title>${escape(title)}</title>\n${head.html}\n<style>${style}</style>\n</head>\n<body>\n${body}</body>\n</html>\n`

/** What a Content-Security-Policy lets a page have of its own: the very style or script. */
export const sourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * What the relative addresses of a page begin with: nothing, but one step up for each slash at the end of the address that
 * it was asked at, which has no meaning here, but is a folder to a browser.
 * @param target as it came
 */
export function relativePrefixOf(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  return '../'.repeat(path.length - end)
}
