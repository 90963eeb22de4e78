/** Escaped HTML that is safe to insert into a page. */
export type Html = { readonly html: string }

/** Template tag for HTML: escapes strings, inserts `Html` values unchanged, and joins lists. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const text = parts.reduce((rendered, part, index) => rendered + renderValue(values[index - 1] ?? '') + part)
  return { html: text }
}

export const NOTHING: Html = { html: '' }

/** A choice of a `select`. */
export const option = (value: string | number, label: string, isSelected: boolean): Html =>
  html`<option value="${String(value)}" ${attribute('selected', isSelected)}>${label}</option>`

/** An attribute without a value, such as `checked`, if it is set. */
export const attribute = (name: 'checked' | 'open' | 'required' | 'selected', isSet: boolean): Html =>
  isSet ? { html: name } : NOTHING

function renderValue(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return escape(value)
  return 'html' in value ? value.html : value.map((one) => one.html).join('')
}

/**
 * Escapes a text for HTML content and quoted attributes. A carriage return becomes a character reference, because browsers
 * read a bare one as a line feed.
 */
const escape = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;')
