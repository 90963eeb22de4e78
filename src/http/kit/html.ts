import { createHash } from 'node:crypto'

/** Escaped HTML that is safe to insert into a page. */
export type Html = { readonly html: string }

/** Template tag for HTML: escapes strings, inserts `Html` values unchanged, and joins lists. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const text = parts.reduce((rendered, part, index) => rendered + renderValue(values[index - 1] ?? '') + part)
  return { html: text }
}

export const NOTHING: Html = { html: '' }

function renderValue(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escape(value)
  return 'html' in value ? value.html : value.map((one) => one.html).join('')
}

/**
 * Escapes a text for HTML content and quoted attributes. A carriage return becomes a character reference, because browsers
 * read a bare one as a line feed.
 */
export const escape = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;')

type HtmlDocument = {
  readonly title: string
  readonly head?: Html
  readonly style: string
  readonly body: string
}

/** Renders a complete, self-contained page; the empty icon prevents a request for one. */
export const htmlDocument = ({ title, head = NOTHING, style, body }: HtmlDocument): string =>
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n' +
  `<title>${escape(title)}</title>\n${head.html}\n<style>${style}</style>\n</head>\n<body>\n${body}</body>\n</html>\n`

/** The Content-Security-Policy source for one inline style or script. */
export const sourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * The prefix for relative links of a page: `../` for each trailing slash of the request target. The service ignores trailing
 * slashes, but a browser takes each as a directory.
 */
export function relativePrefixOf(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  return '../'.repeat(path.length - end)
}
