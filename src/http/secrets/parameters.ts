import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../domain/refusal.ts'
import { isJson, readBody, refuseCharset } from '../kit/body.ts'
import { JsonShape } from '../kit/json-shape.ts'
import { PARAMETERS_MAX, tooMany } from '../kit/parameter-count.ts'
import type { Ctx, Step } from '../kit/request.ts'
import { isUrlencoded, parseMultipart } from './multipart.ts'
import { decodeUtf8, parseUrlencoded, type Pair } from './urlencoded.ts'

/** By name, all values that were given. */
type Values = ReadonlyMap<string, readonly unknown[]>

export type Given = {
  readonly values: Values
  /** Names that came in JSON, which has types of its own: the others are texts. */
  readonly typed: ReadonlySet<string>
}

/** Bytes of a body at most: 10,000 characters take 120,000 where each is escaped as two `\uXXXX`. */
const LIMIT = 1024 * 1024

/** Values of a JSON body of all levels: lists of addresses are short. */
const VALUES_MAX = 1_000

/** Query and body together into `ctx.state.given`; of what both have, the body's counts. */
export const readParameters: Step = async (ctx, next) => {
  const query = collect(parseUrlencoded(ctx.querystring))
  const body = ctx.method === 'POST' ? await givenBy(ctx.req) : NOTHING
  ctx.state.given = { values: bodyFirst(query, body.values), typed: body.typed }
  return next()
}

/** A list in the body takes the place of one in the query, however each of them is written. */
function bodyFirst(query: Values, body: Values): Values {
  const inBody = new Set([...body.keys()].map(bareName))
  return new Map([...[...query].filter(([name]) => !inBody.has(bareName(name))), ...body])
}

const bareName = (name: string) => name.replace(/\[\d*\]$/, '')

/** @throws Error when a route forgot `readParameters` */
export function givenTo(ctx: Ctx): Given {
  if (ctx.state.given === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind readParameters`)
  return ctx.state.given
}

/**
 * What the body gives. One without a type is a form; one without a byte is nothing, whatever its type.
 * @throws Refusal unsupported, too-large, malformed
 */
export async function givenBy(req: IncomingMessage): Promise<Given> {
  const type = req.headers['content-type'] ?? ''
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    throw new Refusal('unsupported', `Content-Encoding ${encoding.slice(0, 40)} is not read; send the body as it is`)
  }
  const media = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (isJson(media)) refuseCharset(type)
  const shape = isJson(media) ? new JsonShape(VALUES_MAX) : undefined
  const body = await readBody(req, LIMIT, (chunk) => shape?.take(chunk))
  if (body.length === 0) return NOTHING
  if (media === '' || media === 'application/x-www-form-urlencoded') {
    return untyped(parseUrlencoded(body.toString('latin1')))
  }
  if (media === 'multipart/form-data') {
    return untyped(isUrlencoded(body, type) ? parseUrlencoded(body.toString('latin1')) : parseMultipart(body, type))
  }
  shape?.end()
  if (shape !== undefined) return parseJson(decodeUtf8(body))
  throw new Refusal('unsupported', `A form or JSON is read here, got ${media.slice(0, 100)}`)
}

const NOTHING: Given = { values: new Map(), typed: new Set() }
const untyped = (pairs: readonly Pair[]): Given => ({ values: collect(pairs), typed: new Set() })

function collect(pairs: readonly Pair[]): Map<string, string[]> {
  const given = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const values = given.get(name)
    if (values === undefined) given.set(name, [value])
    else values.push(value)
  }
  return given
}

function parseJson(text: string): Given {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('malformed', 'The body must be a JSON object')
  }
  if (Object.keys(value).length > PARAMETERS_MAX) throw tooMany(PARAMETERS_MAX)
  const values = new Map(Object.entries(value).map(([name, member]) => [name, [member]]))
  return { values, typed: new Set(values.keys()) }
}

/** A passphrase that is sent as a number is the text that was sent: 007 is no number, and 1e3 is not 1000. */
function asWritten(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return name === 'passphrase' && typeof value === 'number' ? (context?.source ?? String(value)) : value
}

function parsed(text: string): unknown {
  try {
    const given = JSON.parse(text, asWritten) as unknown
    return given
  } catch {
    // The parser's message repeats the text around the fault, which may be the secret.
    throw new Refusal('malformed', 'The body is not JSON')
  }
}
