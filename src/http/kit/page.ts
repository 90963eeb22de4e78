import { createHash } from 'node:crypto'
import { escape, NOTHING, type Html } from './html.ts'

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

export const GEM =
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" ' +
  'aria-hidden="true"><path d="M7 4h10l4.5 5.5L12 21 2.5 9.5 7 4Z"/><path d="M2.5 9.5h19M12 21 8.5 9.5 12 4l3.5 5.5L12 21Z"/></svg>'
