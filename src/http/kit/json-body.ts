import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../domain/refusal.ts'
import { turnOfLongWork } from '../../runtime/slices.ts'
import { readBody, refuseEncoding } from './body.ts'
import type { Body, Schema } from './endpoint.ts'

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

/** Levels of a body; a diamond in a bulk request has five. What walks through a body need not fear for the stack. */
const DEPTH_MAX = 100

/** What a body may have: 500 stones as they were read, with their scores and certifications, come to 30,000. */
const VALUES_MAX = 50_000

/**
 * Counts what a JSON text is made of while it arrives, so that it is refused before anybody parses it: a million members
 * in a body of 8 MiB would keep the parser, and with it everybody else, for seconds. It checks nothing else.
 */
export class JsonShape {
  #depth = 0
  #isDeep = false
  #values = 0
  #inText = false
  #escaped = false

  /** @param valuesMax members and elements, of all levels together */
  constructor(private readonly valuesMax: number = VALUES_MAX) {}

  /** @throws Refusal too-large where it has too many values */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#escaped) this.#escaped = false
      else if (byte === QUOTE) this.#inText = !this.#inText
      else if (this.#inText) this.#escaped = byte === BACKSLASH
      else if (byte === COMMA) this.#count()
      else if (byte === BRACE || byte === BRACKET) this.#enter()
      else if (byte === END_BRACE || byte === END_BRACKET) this.#depth--
    }
  }

  /** @throws Refusal invalid where it was nested too deep, malformed where that had no end either */
  end(): void {
    if (!this.#isDeep) return
    if (this.#depth !== 0) throw new Refusal('malformed', 'The body is not JSON: not everything that begins in it ends')
    throw new Refusal('invalid', `The body is nested over ${DEPTH_MAX} levels deep`)
  }

  #enter(): void {
    if (++this.#depth > DEPTH_MAX) this.#isDeep = true
    this.#count()
  }

  #count(): void {
    // It is not going to be parsed: how much more there is does not matter.
    if (this.#isDeep || ++this.#values <= this.valuesMax) return
    const most = this.valuesMax.toLocaleString('en')
    throw new Refusal('too-large', `The body may have at most ${most} values, members and elements together`)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACE = 0x7b
const BRACKET = 0x5b
const END_BRACE = 0x7d
const END_BRACKET = 0x5d
