import { readBody } from '../body.ts'
import { refuseMany } from '../parameter-count.ts'
import type { Ctx, Step } from '../request.ts'
import { OAuthError } from './errors.ts'

/** Bytes of a form; the longest that makes sense has a few tokens in it. */
const FORM_LIMIT = 64 * 1024

/** By name; one that stands without a value counts as absent (RFC 6749, section 3.2). */
export type Parameters = ReadonlyMap<string, string>

/** Reads the parameters of query and form body, whose own win, into `ctx.state.parameters`. */
export const readParameters: Step = async (ctx, next) => {
  const body = await readForm(ctx)
  ctx.state.parameters = new Map([...parse(ctx.querystring), ...parse(body)])
  return next()
}

export function parametersOf(ctx: Ctx): Parameters {
  if (ctx.state.parameters === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind readParameters`)
  return ctx.state.parameters
}

async function readForm(ctx: Ctx): Promise<string> {
  const type = ctx.req.headers['content-type']
  const bytes = await readBody(ctx.req, FORM_LIMIT)
  if (bytes.length === 0) return ''
  if (type === undefined || !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded')
  }
  if (ctx.req.headers['content-encoding'] !== undefined) {
    throw new OAuthError('invalid_request', 'The body must not be encoded')
  }
  return bytes.toString('utf8')
}

function parse(text: string): Map<string, string> {
  refuseMany(text)
  const found = new Map<string, string>()
  const seen = new Set<string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (seen.has(name)) throw new OAuthError('invalid_request', `The parameter ${name.slice(0, 40)} stands twice`)
    seen.add(name)
    if (value !== '') found.set(name, value)
  }
  return found
}
