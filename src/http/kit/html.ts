/** Finished HTML, safe to be put into a page. */
export type Html = { readonly html: string }

/**
 * Makes HTML of a template: every text put in is escaped, HTML is not, a list is joined. A carriage return is written as
 * a reference, since a browser reads a bare one as a line feed.
 */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const text = parts.reduce((done, part, index) => done + shown(values[index - 1] ?? '') + part)
  return { html: text }
}

export const NOTHING: Html = { html: '' }

function shown(value: string | Html | readonly Html[]): string {
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
