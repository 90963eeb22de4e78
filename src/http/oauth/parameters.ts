import { isJson, parseJsonBody, readBody, refuseCharset } from '../kit/body.ts'
import { refuseMany } from '../kit/parameter-count.ts'
import type { Ctx, Step } from '../kit/request.ts'
import { parseMultipart } from '../secrets/multipart.ts'
import { OAuthError } from './errors.ts'
import { textsIn } from './json-texts.ts'

/** Bytes of a form; the longest that makes sense has a few tokens in it. */
const FORM_LIMIT = 64 * 1024

/** By name; one that stands without a value counts as absent (RFC 6749, section 3.2). */
export type Parameters = ReadonlyMap<string, string>

type Pairs = Iterable<readonly [name: string, value: string]>

/** Reads the parameters of query and body, whose own win, into `ctx.state.parameters`. */
export const readParameters: Step = async (ctx, next) => {
  const body = await readForm(ctx)
  ctx.state.parameters = new Map([...once(urlencoded(ctx.querystring)), ...once(body)])
  return next()
}

export function parametersOf(ctx: Ctx): Parameters {
  if (ctx.state.parameters === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind readParameters`)
  return ctx.state.parameters
}

/** What clients send beside the form of RFC 6749: a body without a type, a multipart form, a JSON object of texts. */
async function readForm(ctx: Ctx): Promise<Pairs> {
  const type = ctx.req.headers['content-type'] ?? ''
  const bytes = await readBody(ctx.req, FORM_LIMIT)
  if (bytes.length === 0) return []
  if (ctx.req.headers['content-encoding'] !== undefined) {
    throw new OAuthError('invalid_request', 'The body must not be encoded')
  }
  const media = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (media === '' || media === 'application/x-www-form-urlencoded') return urlencoded(bytes.toString('utf8'))
  if (media === 'multipart/form-data') return parseMultipart(bytes, type)
  if (!isJson(type)) {
    throw new OAuthError('invalid_request', 'The body must be a form or a JSON object, such as grant_type=password')
  }
  refuseCharset(type)
  return textsIn(parseJsonBody(bytes), bytes.toString('utf8'))
}

function urlencoded(text: string): Pairs {
  refuseMany(text)
  return new URLSearchParams(text)
}

function once(pairs: Pairs): Map<string, string> {
  const found = new Map<string, string>()
  const seen = new Set<string>()
  for (const [name, value] of pairs) {
    if (seen.has(name)) throw new OAuthError('invalid_request', `The parameter ${name.slice(0, 40)} stands twice`)
    seen.add(name)
    if (value !== '') found.set(name, value)
  }
  return found
}
