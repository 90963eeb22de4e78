import { Refusal } from '../../../domain/refusal.ts'
import { PARAMETERS_MAX, tooMany } from './count.ts'
import { decodeUtf8, type Pair } from './urlencoded.ts'

const LINE = Buffer.from('\r\n')
const BLANK = Buffer.from('\r\n\r\n')

/** Bytes of a part's header: a name and a type. */
const HEADER_MAX = 8 * 1024

/** RFC 2046, section 5.1.1: 1 to 70 characters. */
const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i
const NAME = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i

/**
 * Names and values of a form with text parts, RFC 7578; a part sent as a file is text as well. The body is small and at
 * hand, so that nothing has to stream and every byte of a value is kept.
 * @param type the Content-Type
 * @throws Refusal malformed
 */
export function parseMultipart(body: Buffer, type: string): Pair[] {
  const found = BOUNDARY.exec(type)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) throw new Refusal('malformed', 'multipart/form-data must name its boundary')
  return partsOf(body, Buffer.from(`--${boundary}`)).map(readPart)
}

/** What programs send that name the type and then write a form of the other kind: no boundary, and none in the body. */
export const isUrlencoded = (body: Buffer, type: string): boolean =>
  !BOUNDARY.test(type) && !body.subarray(0, 2).equals(Buffer.from('--'))

/** What stands between the delimiters, each of which begins a line. */
function partsOf(body: Buffer, delimiter: Buffer): Buffer[] {
  const parts: Buffer[] = []
  let from = startOf(body, delimiter)
  for (;;) {
    if (body.subarray(from, from + 2).equals(Buffer.from('--'))) return parts
    if (parts.length === PARAMETERS_MAX) throw tooMany(PARAMETERS_MAX)
    const lineEnd = body.indexOf(LINE, from)
    const next = body.indexOf(Buffer.concat([LINE, delimiter]), from)
    if (lineEnd < 0 || next < 0) throw new Refusal('malformed', 'The multipart body ends before its last boundary')
    // A part without a header begins at the very delimiter's line end.
    parts.push(body.subarray(lineEnd + LINE.length, Math.max(next, lineEnd + LINE.length)))
    from = next + LINE.length + delimiter.length
  }
}

/** Behind the first delimiter; before it stands nothing, or a preamble. */
function startOf(body: Buffer, delimiter: Buffer): number {
  if (body.subarray(0, delimiter.length).equals(delimiter)) return delimiter.length
  const first = body.indexOf(Buffer.concat([LINE, delimiter]))
  if (first < 0) throw new Refusal('malformed', 'The multipart body does not contain its boundary')
  return first + LINE.length + delimiter.length
}

function readPart(part: Buffer): Pair {
  const blank = part.indexOf(BLANK)
  if (blank > HEADER_MAX) throw new Refusal('malformed', `A part's header may have at most ${HEADER_MAX} bytes`)
  const header = part.subarray(0, blank < 0 ? 0 : blank).toString('utf8')
  const disposition = header.split('\r\n').find((line) => /^content-disposition\s*:/i.test(line)) ?? ''
  const name = NAME.exec(disposition)
  if (name === null) throw new Refusal('malformed', 'A multipart part has no name')
  if (/^content-transfer-encoding\s*:(?!\s*(?:7bit|8bit|binary))/im.test(header)) {
    throw new Refusal('malformed', 'A multipart part must be sent as it is, without Content-Transfer-Encoding')
  }
  return [name[1]?.replaceAll(/\\(.)/g, '$1') ?? name[2] ?? '', decodeUtf8(part.subarray(blank + BLANK.length))]
}
