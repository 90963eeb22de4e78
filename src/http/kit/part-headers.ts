import { RequestError } from '../../domain/request-error.ts'

/** What the headers of a part of a multipart form say (RFC 7578, section 4). */
export type PartHeaders = {
  /** Never empty. */
  readonly name: string
  /** Undefined without one; empty if a person submitted a form without choosing a file. */
  readonly filename: string | undefined
  readonly isFile: boolean
  /** As declared; undefined if it is not. */
  readonly charset: string | undefined
}

/** Creates the error for a part that cannot be read. */
type RefusePart = (reason: string) => RequestError

/**
 * Parses the headers of a part. The type of its Content-Disposition is ignored, as by other servers: a client that sends
 * `attachment; name="file"` means the part `file`.
 * @param bytes without the empty line
 * @throws what `refuse` creates
 */
export function parsePartHeaders(bytes: Buffer, refuse: RefusePart): PartHeaders {
  const headers = parseHeaderLines(bytes.toString(), refuse)
  const valuesOf = (name: string) => headers.filter((header) => header.name === name).map(({ value }) => value)
  const [disposition, ...repeated] = valuesOf('content-disposition')
  if (disposition === undefined) throw refuse('it has no Content-Disposition')
  if (repeated.length > 0) throw refuse('it has more than one Content-Disposition')
  const { name, filename } = parseDisposition(disposition, refuse)
  if (!valuesOf('content-transfer-encoding').every((encoding) => /^(?:7bit|8bit|binary)$/i.test(encoding))) {
    throw refuse('it must be sent without Content-Transfer-Encoding')
  }
  const [type = ''] = valuesOf('content-type')
  return {
    name,
    filename,
    isFile: filename !== undefined || /^application\/octet-stream\s*(?:;|$)/i.test(type),
    charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1],
  }
}

type Header = { readonly name: string; readonly value: string }

/** `Name: value`, also with blanks before the colon, as in mails. */
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+)[ \t]*:(.*)$/s

/** Joins folded lines (RFC 5322, section 2.2.3). */
function parseHeaderLines(text: string, refuse: RefusePart): Header[] {
  const lines = text === '' ? [] : text.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n')
  return lines.map((line, index) => {
    // oxlint-disable-next-line no-control-regex
    if (/[\0-\x08\n-\x1f\x7f]/.test(line)) {
      throw refuse('its headers must not contain control characters, and their lines must end with CR LF')
    }
    const [, name, value] = HEADER_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) throw refuse(`line ${index + 1} of its headers has no name or colon`)
    return { name: name.toLowerCase(), value: value.trim() }
  })
}

type Disposition = Pick<PartHeaders, 'name' | 'filename'>

function parseDisposition(value: string, refuse: RefusePart): Disposition {
  const parameters = new Map<string, string>()
  for (const { name, value: text } of splitParameters(value, refuse)) {
    if (parameters.has(name)) throw refuse(`its Content-Disposition has more than one ${name.slice(0, 40)}`)
    const parsed = parseParameter(name, text)
    if (parsed === undefined) {
      const rule = name.endsWith('*') ? "be percent-encoded, as in UTF-8''a" : 'be in double quotes'
      throw refuse(`${name.slice(0, 40)} in its Content-Disposition must ${rule}`)
    }
    parameters.set(name, parsed)
  }
  if (parameters.has('name') && parameters.has('name*')) {
    throw refuse('its Content-Disposition has both name and name*')
  }
  const name = parameters.get('name') ?? parameters.get('name*') ?? ''
  if (name === '') throw refuse('its Content-Disposition has no name')
  if (name.includes('\ufffd')) throw refuse('its name must be UTF-8')
  return { name, filename: parameters.get('filename*') ?? parameters.get('filename') }
}

/**
 * Splits `form-data; name="file"; filename="a.pdf"` at the semicolons that are followed by a parameter. Other semicolons are
 * part of a value, or superfluous.
 */
function splitParameters(disposition: string, refuse: RefusePart): Header[] {
  const [type = '', ...pieces] = disposition.split(';')
  if (!/^[^\s="]+\s*$/.test(type)) throw refuse('its Content-Disposition does not begin with form-data;')
  const parameters: { readonly name: string; value: string; isOpen: boolean }[] = []
  for (const piece of pieces) {
    const last = parameters.at(-1)
    const [start, name] = /^\s*([^\s="]+)\s*=\s*/.exec(piece) ?? []
    if (start !== undefined && name !== undefined && last?.isOpen !== true) {
      const value = piece.slice(start.length).trimEnd()
      parameters.push({
        name: name.toLowerCase(),
        value,
        isOpen: value.startsWith('"') && !CLOSED.test(value.slice(1)),
      })
    } else if (last !== undefined && (last.isOpen || piece.trim() !== '')) {
      last.value += `;${piece}`
      last.isOpen &&= !CLOSED.test(piece)
    } else if (piece.trim() !== '') throw refuse('its Content-Disposition is malformed')
  }
  return parameters
}

/** Ends with a quote that is not escaped. */
const CLOSED = /(?<!\\)(?:\\\\)*"\s*$/

/** @returns undefined if the value is malformed */
function parseParameter(name: string, text: string): string | undefined {
  if (name === 'filename') return parseFileName(text)
  if (name === 'filename*') return decodeExtendedValue(text) ?? text.slice(text.lastIndexOf("'") + 1)
  if (name.endsWith('*')) return decodeExtendedValue(text)
  const quoted = /^"((?:[^"\\]|\\.)*)"\s*$/s.exec(text)?.[1]
  // An apostrophe is allowed here, but means that the client took it for a quote.
  return quoted === undefined ? /^[^\s"';]*$/.exec(text)?.[0] : unescape(quoted)
}

/**
 * Accepts what browsers and mail programs send: unescaped quotes in quotes, and unquoted spaces, brackets and semicolons.
 * @returns undefined without a closing quote
 */
function parseFileName(text: string): string | undefined {
  if (!text.startsWith('"')) return text
  const quoted = /^"(.*)"\s*$/s.exec(text)?.[1]
  return quoted === undefined ? undefined : unescape(quoted)
}

/** Other backslashes are kept: some browsers send a path. */
const unescape = (quoted: string) => quoted.replaceAll(/\\(["\\])/g, '$1')

/** Decodes `UTF-8''na%C3%AFve.pdf` (RFC 8187). @returns undefined if it is malformed */
function decodeExtendedValue(text: string): string | undefined {
  const [, charset, encoded] = /^([^'\s"]+)'[^']*'((?:[^%\s"]|%[0-9a-f]{2})*)$/i.exec(text) ?? []
  if (charset === undefined || encoded === undefined) return undefined
  const latin = encoded.replaceAll(/%(..)/g, (_found, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeCharset(Buffer.from(latin, 'latin1'), charset, { fatal: true })
}

/** @returns undefined for an unknown charset and, if `fatal`, for invalid bytes */
export function decodeCharset(
  bytes: Buffer,
  charset: string,
  options?: ConstructorParameters<typeof TextDecoder>[1],
): string | undefined {
  try {
    return new TextDecoder(charset, options).decode(bytes)
  } catch {
    return undefined
  }
}
