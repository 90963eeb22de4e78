import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../domain/refusal.ts'
import { readBody, refuseEncoding } from '../body.ts'
import { isJson, JsonShape, refuseCharset } from '../json-body.ts'
import { PARAMETERS_MAX, tooMany } from './count.ts'
import { isUrlencoded, parseMultipart } from './multipart.ts'
import { decodeUtf8, parseUrlencoded } from './urlencoded.ts'

/** What a query or a body gives by name: texts, or whatever a JSON object has. */
export type Sent = {
  readonly pairs: readonly (readonly [name: string, value: unknown])[]
  /** The first name that stands a second time. Of two in JSON the pairs have the last alone. */
  readonly twice: () => string | undefined
}

/** Values of a JSON body of all levels: lists of addresses are short. */
const VALUES_MAX = 1_000

const NOTHING: Sent = { pairs: [], twice: () => undefined }

/** @param query as it came, without its `?`. @throws Refusal malformed */
export function sentInQuery(query: string): Sent {
  return query === '' ? NOTHING : ofPairs(parseUrlencoded(query))
}

/**
 * What a form or a JSON object gives. A body without a type is a form; one without a byte is nothing, whatever its type.
 * @param upTo bytes at most
 * @param asWritten names whose JSON numbers are the texts that were sent: 007 is no number, and 1e3 is not 1000
 * @throws Refusal unsupported, too-large, too-slow, unavailable, malformed
 */
export async function sentInBody(req: IncomingMessage, upTo: number, asWritten: readonly string[]): Promise<Sent> {
  const type = req.headers['content-type'] ?? ''
  const media = type.split(';')[0]?.trim().toLowerCase() ?? ''
  const shape = isJson(media) ? new JsonShape(VALUES_MAX) : undefined
  const body = await readBody(req, upTo, (chunk) => shape?.take(chunk))
  if (body.length === 0) return NOTHING
  refuseEncoding(req)
  if (shape !== undefined) {
    refuseCharset(type)
    shape.end()
    return ofJson(decodeUtf8(body), asWritten)
  }
  if (media === '' || media === 'application/x-www-form-urlencoded') return urlencoded(body)
  if (media === 'multipart/form-data') {
    return isUrlencoded(body, type) ? urlencoded(body) : ofPairs(parseMultipart(body, type))
  }
  throw new Refusal('unsupported', `A form or JSON is read here, got ${media.slice(0, 100)}`)
}

const urlencoded = (body: Buffer) => ofPairs(parseUrlencoded(body.toString('latin1')))

const ofPairs = (pairs: Sent['pairs']): Sent => ({ pairs, twice: () => firstTwice(pairs.map(([name]) => name)) })

function ofJson(text: string, asWritten: readonly string[]): Sent {
  const value = parsed(text, asWritten)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('malformed', 'The body must be a JSON object')
  }
  const pairs = Object.entries(value)
  if (pairs.length > PARAMETERS_MAX) throw tooMany(PARAMETERS_MAX)
  return { pairs, twice: () => firstTwice(namesIn(text)) }
}

function parsed(text: string, asWritten: readonly string[]): unknown {
  const reviver = (name: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' && asWritten.includes(name) ? (context?.source ?? String(value)) : value
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''), reviver) as unknown
  } catch {
    // The parser's message repeats the text around the fault, which may be a secret or a password.
    throw new Refusal('malformed', 'The body is not JSON')
  }
}

function firstTwice(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.has(name) || !seen.add(name))
}

/** Names of the members of a JSON text, of all levels: a text before a colon is a name, and stands nowhere else. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(TEXT)].filter(([, colon]) => colon !== undefined).map(([found]) => nameOf(found))

const TEXT = /"(?:[^"\\]|\\.)*"(\s*:)?/g

const nameOf = (found: string) => String(JSON.parse(found.slice(0, found.lastIndexOf('"') + 1)))
