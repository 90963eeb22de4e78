import type { Context } from 'koa'
import { parse } from 'qs'
import { Refusal } from '../../../domain/refusal.ts'
import { isObject } from '../../../representations/json.ts'
import { JSON_TYPES, refuseLarge } from '../json-body.ts'
import { bodyReader } from '../read-body.ts'
import { decodeUtf8, formOptions, PARAMETERS_MAX, tooMany, type Rules } from './form.ts'
import { multipartForm } from './multipart.ts'

/** What a query or a body gives by name: texts and lists of them, or whatever a JSON object has. */
export type Sent = Readonly<Record<string, unknown>>

export type ReadingSent = {
  /** Bytes of a body at most. */
  readonly upTo: number
  /** Of `once`, a name that stands twice has an array, and is refused in JSON. */
  readonly rules: Rules
  /** Names whose JSON numbers are the texts that were sent: 007 is no number, and 1e3 is not 1000. */
  readonly asWritten: readonly string[]
}

const FORM = 'application/x-www-form-urlencoded'

/**
 * What a query and a body give. A body without a type is a form, and so is a multipart one without a boundary, which
 * some programs send; one without a byte is nothing.
 * @returns a reader, which throws Refusal unsupported, too-large, too-slow, unavailable, malformed
 */
export function sentReader({ upTo, rules, asWritten }: ReadingSent) {
  const options = formOptions(rules)
  const forms = { urlencoded: true, queryString: options }
  // JSON is parsed here: koa-body's parser tells neither how a number was written, nor which bytes are not UTF-8.
  const json = { text: true, textTypes: JSON_TYPES }
  const read = bodyReader({ ...forms, ...json, encoding: 'latin1', limit: upTo, unless: FORM })
  const ofJson = (text: string): Sent => {
    const sent = objectOf(parsedJson(text, asWritten))
    if (rules === 'once') refuseTwice(text)
    return sent
  }
  const bodyOf = async (ctx: Context): Promise<Sent> => {
    const { headers } = ctx.req
    const { 'content-type': type = '', 'content-length': length } = headers
    if (length === '0') return {}
    const isMultipart = /^multipart\/form-data\b/i.test(type)
    if (isMultipart && /;\s*boundary=/i.test(type)) return parsed(await multipartForm(ctx, upTo), options)
    if (isMultipart) headers['content-type'] = FORM
    const body = await read(ctx)
    if (typeof body === 'string') return body === '' ? {} : ofJson(decodeUtf8(Buffer.from(body, 'latin1')))
    const sent = (body ?? {}) as Sent
    if (isMultipart && Object.keys(sent).some((name) => name.startsWith('--'))) {
      throw new Refusal('malformed', 'multipart/form-data must name its boundary')
    }
    return sent
  }
  return async (ctx: Context, search: string) => ({ query: parsed(search, options), body: await bodyOf(ctx) })
}

/** @throws Refusal malformed */
function parsed(text: string, options: ReturnType<typeof formOptions>): Sent {
  try {
    return parse(text, options) as Sent
  } catch (error) {
    throw error instanceof RangeError ? tooMany() : error
  }
}

/** @throws Refusal malformed, invalid, too-large */
function objectOf(value: unknown): Sent {
  if (!isObject(value)) throw new Refusal('malformed', 'The body must be a JSON object')
  if (Object.keys(value).length > PARAMETERS_MAX) throw tooMany()
  refuseLarge(value)
  return value
}

/** @throws Refusal malformed for a name that stands twice, on any level: a text before a colon is a name */
function refuseTwice(json: string): void {
  const seen = new Set<string>()
  for (const [, text = '', colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
    if (colon === undefined) continue
    const name = String(JSON.parse(text))
    if (seen.has(name)) throw new Refusal('malformed', `The parameter ${name.slice(0, 40)} stands twice`)
    seen.add(name)
  }
}

/** @throws Refusal malformed */
function parsedJson(text: string, asWritten: readonly string[]): unknown {
  const reviver = (name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (name === '__proto__') throw new SyntaxError('It has a member __proto__')
    return typeof value === 'number' && asWritten.includes(name) ? (context?.source ?? String(value)) : value
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''), reviver) as unknown
  } catch {
    // The parser's message repeats the text around the fault, which may be a secret or a password.
    throw new Refusal('malformed', 'The body is not JSON')
  }
}
