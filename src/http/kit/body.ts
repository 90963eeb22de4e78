import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../domain/refusal.ts'
import { Pace, tooSlowMessage as tooSlow } from '../../runtime/fairness/pace.ts'
import { turnOfLongWork } from '../../runtime/slices.ts'
import { allowanceOf } from './body-allowance.ts'
import { discardRest } from './discard-rest.ts'
import type { Body, Schema } from './endpoint.ts'
import { JsonShape } from './json-shape.ts'

/** Bytes of a JSON body at most. */
const JSON_LIMIT = 8 * 1024 * 1024

/** Bytes of a body from which on its parts of work have turns of their own: what is shorter takes a few milliseconds. */
const LONG = 256 * 1024

/** A JSON body of at most 8 MiB; one without a type is taken for JSON. @param schema for documents: `run` reads the value */
export const json = (schema?: Schema): Body<unknown> => ({
  media: ['application/json', ''],
  upTo: JSON_LIMIT,
  ...(schema !== undefined && { schema }),
  read: jsonOf,
})

/**
 * The body is counted while it arrives, and then decoded and parsed: a long one in a turn for each.
 * @throws Refusal unsupported, malformed, too-large, too-slow, unavailable
 */
export async function jsonOf(req: IncomingMessage): Promise<unknown> {
  const type = req.headers['content-type']
  if (type !== undefined && !isJson(type)) {
    throw new Refusal('unsupported', `Content-Type must be application/json, got ${type.slice(0, 100)}`)
  }
  refuseCharset(type)
  refuseEncoding(req)
  const shape = new JsonShape()
  const bytes = await readBody(req, JSON_LIMIT, (chunk) => shape.take(chunk))
  shape.end()
  if (bytes.length <= LONG) return parseJson(textOf(bytes))
  await turnOfLongWork()
  const text = textOf(bytes)
  await turnOfLongWork()
  return parseJson(text)
}

/** True for a Content-Type whose body is JSON. */
export const isJson = (type: string) => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

/** JSON is UTF-8 (RFC 8259, 8.1). @throws Refusal unsupported where a Content-Type says otherwise */
export function refuseCharset(type: string | undefined): void {
  const charset = CHARSET.exec(type ?? '')?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return
  throw new Refusal('unsupported', `JSON is read in UTF-8, got charset ${charset.slice(0, 40)}`)
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i

/** @throws Refusal unsupported for a body that would have to be unpacked first */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refusal('unsupported', `Content-Encoding ${encoding.slice(0, 40)} is not read; send the body as it is`)
  }
}

/** @throws Refusal malformed */
function textOf(bytes: Buffer): string {
  if (bytes.length === 0) throw new Refusal('malformed', 'The body is empty; send a JSON object')
  if (!isUtf8(bytes)) throw new Refusal('malformed', 'The body is not JSON: it is not UTF-8')
  return bytes.toString('utf8')
}

/** @throws Refusal malformed */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text)
  } catch (error) {
    throw new Refusal('malformed', `The body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

const BYTE_ORDER_MARK = 0xfeff

/**
 * The whole body, as long as it has at most `limit` bytes, comes fast enough and there is room for it. What is left of
 * one that is refused is read and forgotten.
 * @param look sees each piece as it arrives, and refuses the body by throwing
 * @throws Refusal too-large before more than the limit is kept, too-slow, unavailable, or what `look` throws
 */
export function readBody(
  req: IncomingMessage,
  limit: number,
  look: (chunk: Buffer) => void = () => undefined,
): Promise<Buffer> {
  const tooLarge = () => new Refusal('too-large', `The body may have at most ${limit} bytes`)
  const allowance = allowanceOf(req)
  return new Promise((done, fail) => {
    const chunks: Buffer[] = []
    let length = 0
    const pace = new Pace(allowance.leastPace, () => refuse(new Refusal('too-slow', tooSlow(allowance.leastPace))))
    const refuse = (error: unknown) => {
      pace.stop()
      req.off('data', take)
      chunks.length = 0
      discardRest(req)
      fail(error)
    }
    const take = (chunk: Buffer) => {
      try {
        length += chunk.length
        pace.took(chunk.length)
        if (length > limit) throw tooLarge()
        allowance.took(chunk.length)
        look(chunk)
        chunks.push(chunk)
      } catch (error) {
        refuse(error)
      }
    }
    const declared = Number(req.headers['content-length'] ?? 0)
    try {
      if (declared > limit) throw tooLarge()
      allowance.expects(declared)
    } catch (error) {
      refuse(error)
      return
    }
    req.on('data', take)
    req.on('end', () => {
      req.off('close', broken)
      pace.stop()
      done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length))
    })
    const broken = () => {
      pace.stop()
      fail(new Refusal('malformed', 'The connection broke while the body was read'))
    }
    req.on('error', broken)
    // Tells of one that broke before anybody read it as well.
    req.on('close', broken)
    if (req.destroyed) broken()
  })
}
