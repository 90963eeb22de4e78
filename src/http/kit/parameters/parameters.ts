import { PassThrough } from 'node:stream'
import { parse } from 'qs'
import { z } from 'zod'
import { RequestError } from '../../../domain/request-error.ts'
import { isJsonObject, describeJsonType } from '../../../representations/json.ts'
import { exampleObject } from '../../../representations/parse.ts'
import { discardRest, readWithLimits, refuseEncoding } from '../body-limits.ts'
import type { EndpointContext, RequestBody } from '../endpoint.ts'
import { JSON_TYPES, refuseLarge } from '../json-body.ts'
import { decodeText, isMultipart, readContent, readParts, type Part } from '../multipart.ts'
import { bodyReader } from '../read-body.ts'
import { decodeUtf8, formOptions, PARAMETERS_MAX, tooManyParameters, type ParameterRules } from './form.ts'
import { findMistypedNames, isList } from './query.ts'

type RequestParameters<Shape extends z.ZodRawShape> = RequestBody<z.output<z.ZodObject<Shape>>> & {
  readonly schema: z.ZodObject<Shape>
  /** @throws RequestError */
  readonly read: (ctx: EndpointContext) => Promise<z.output<z.ZodObject<Shape>>>
}

/** With `once`, a parameter without a value counts as absent (RFC 6749, section 3.2). */
type ParameterOptions = Pick<RawParameterOptions, 'maxBytes' | 'rules'> & Partial<RawParameterOptions>

/**
 * Declares parameters that clients send in the query, a form or a JSON object. The body takes precedence over the query.
 * Messages of the schemas follow the name of the parameter: `must be text`. Unknown parameters are ignored, except under Rack
 * rules one that is probably misspelt: a secret must not be shared without its `Passphrase`. RFC 6749, section 3.2, requires
 * that all are ignored.
 */
export function defineParameters<Shape extends z.ZodRawShape>(
  shape: Shape,
  { rules, maxBytes, verbatimNumbers = [], ignoresQuery = false }: ParameterOptions,
): RequestParameters<Shape> {
  const schema = z.object(shape).meta({ examples: [exampleObject(shape)] })
  const lists = Object.keys(shape).filter((name) => isList(shape[name] as z.core.$ZodType))
  const read = createRawParameterReader({ maxBytes, rules, verbatimNumbers, ignoresQuery })
  return {
    mediaTypes: MEDIA,
    maxBytes,
    schema,
    async read(ctx) {
      const { query, body } = await read(ctx)
      if (rules === 'once') return validate(schema, { ...requireSingleTexts(query), ...requireSingleTexts(body) })
      const parameters: Record<string, unknown> = { ...query, ...body }
      const [mistyped] = findMistypedNames(Object.keys(parameters), Object.keys(shape))
      if (mistyped !== undefined) throw new RequestError('malformed', mistyped.message)
      for (const name of lists) if (parameters[name] !== undefined) parameters[name] = [parameters[name]].flat()
      return validate(
        schema,
        omit(parameters, (value) => value === null),
      )
    },
  }
}

/** Parameters by name: texts and lists of texts from a query or form, any values from a JSON object. */
type RawParameters = Readonly<Record<string, unknown>>

type RawParameterOptions = {
  readonly maxBytes: number
  /** With `once`, repeated parameters become an array; repeated JSON members are an error. */
  readonly rules: ParameterRules
  /** Parameters whose JSON numbers are kept as the source text: `1e3` stays `1e3`. */
  readonly verbatimNumbers: readonly string[]
  /** Reads only the body. */
  readonly ignoresQuery: boolean
}

/**
 * Reads the parameters of a query and a body. A body without a Content-Type is a urlencoded form, and so is a multipart body
 * without a boundary, which some clients send.
 * @returns a reader that throws RequestError too-large, unavailable or malformed, HttpError 408 or 415
 */
function createRawParameterReader({ maxBytes, rules, verbatimNumbers, ignoresQuery }: RawParameterOptions) {
  const options = formOptions(rules)
  const forms = { urlencoded: true, queryString: options }
  // JSON is read as text and parsed here: koa-body keeps neither the source text of numbers nor invalid UTF-8.
  const json = { text: true, textTypes: JSON_TYPES }
  const read = bodyReader({ ...forms, ...json, encoding: 'latin1', maxBytes, defaultType: FORM })
  const ofJson = (text: string): RawParameters => {
    const parameters = requireJsonObject(parseJson(text, verbatimNumbers))
    if (rules === 'once') refuseRepeatedMembers(text)
    return parameters
  }
  const bodyOf = async (ctx: EndpointContext): Promise<RawParameters> => {
    const { headers } = ctx.req
    const { 'content-type': type = '', 'content-length': length } = headers
    if (length === '0') return {}
    const isForm = isMultipart(type)
    if (isForm && /;\s*boundary\s*=/i.test(type))
      return parseForm(await readMultipartForm(ctx, type, maxBytes), options)
    if (isForm) headers['content-type'] = FORM
    const body = await read(ctx)
    if (typeof body === 'string') return body === '' ? {} : ofJson(decodeUtf8(Buffer.from(body, 'latin1')))
    const parameters = (body ?? {}) as RawParameters
    if (isForm && Object.keys(parameters).some((name) => name.startsWith('--'))) {
      throw new RequestError('malformed', 'The Content-Type multipart/form-data must have a boundary')
    }
    return parameters
  }
  return async (ctx: EndpointContext) => ({
    query: ignoresQuery ? {} : parseForm(ctx.querystring, options),
    body: await bodyOf(ctx),
  })
}

const FORM = 'application/x-www-form-urlencoded'

/** @throws RequestError malformed, invalid, too-large */
function requireJsonObject(value: unknown): RawParameters {
  if (!isJsonObject(value)) throw new RequestError('malformed', 'The body must be a JSON object')
  if (Object.keys(value).length > PARAMETERS_MAX) throw tooManyParameters()
  refuseLarge(value)
  return value
}

/** @throws RequestError malformed */
function parseJson(text: string, verbatimNumbers: readonly string[]): unknown {
  const reviver = (name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (name === '__proto__') throw new SyntaxError('The member __proto__ is not allowed')
    return typeof value === 'number' && verbatimNumbers.includes(name) ? (context?.source ?? String(value)) : value
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''), reviver) as unknown
  } catch {
    // The parser's message quotes the text around the error, which may contain a secret or a password.
    throw new RequestError('malformed', 'The body is not valid JSON')
  }
}

/** @throws RequestError malformed if a member name occurs twice, on any level */
function refuseRepeatedMembers(json: string): void {
  const seen = new Set<string>()
  for (const [, text = '', colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
    if (colon === undefined) continue
    const name = String(JSON.parse(text))
    if (seen.has(name))
      throw new RequestError('malformed', `The parameter ${name.slice(0, 40)} must be given only once`)
    seen.add(name)
  }
}

/** @throws RequestError malformed */
function parseForm(text: string, options: ReturnType<typeof formOptions>): RawParameters {
  try {
    return parse(text, options) as RawParameters
  } catch (error) {
    throw error instanceof RangeError ? tooManyParameters() : error
  }
}

/**
 * Reads a multipart form of texts (RFC 7578). A part sent as a file is read as text too. A part `_charset_` names the charset
 * of those that declare none (section 4.6).
 * @param maxBytes of the body
 * @returns the form, urlencoded
 * @throws RequestError malformed, too-large, unavailable; HttpError 408, 415
 */
async function readMultipartForm(ctx: EndpointContext, type: string, maxBytes: number): Promise<string> {
  const { req } = ctx
  const body = new PassThrough()
  const readTexts = async () => {
    const contents: (readonly [Part, Buffer])[] = []
    for await (const part of readParts(req.pipe(body), type, PARAMETERS_MAX)) {
      contents.push([part, await readContent(part, maxBytes)])
    }
    const [, charset] = contents.find(([{ name }]) => name === '_charset_') ?? []
    return contents.map(([part, bytes]): [string, string] => [
      part.name,
      decodeText(part, bytes, charset?.toString() || undefined),
    ])
  }
  try {
    refuseEncoding(req)
    return new URLSearchParams(await readWithLimits(ctx, maxBytes, readTexts)).toString()
  } catch (error) {
    discardRest(req)
    throw error
  } finally {
    body.destroy()
  }
}

/** A body without a Content-Type is a urlencoded form. */
const MEDIA = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json', ''] as const

/** Reports only the first error, because clients of the original match on a single message. */
function validate<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, parameters: Record<string, unknown>) {
  const { success, data, error } = schema.safeParse(parameters)
  if (success) return data
  const [issue] = error.issues
  throw new RequestError('invalid', `${String(issue?.path[0])} ${issue?.message}`)
}

/** @throws RequestError malformed */
function requireSingleTexts(parameters: RawParameters): RawParameters {
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'string' || value === null) continue
    const shortName = name.slice(0, 40)
    if (Array.isArray(value)) throw new RequestError('malformed', `The parameter ${shortName} must be given only once`)
    throw new RequestError('malformed', `${shortName} must be text, got ${describeJsonType(value)}`)
  }
  return omit(parameters, (value) => value === '' || value === null)
}

const omit = (parameters: RawParameters, isAbsent: (value: unknown) => boolean): RawParameters =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => !isAbsent(value)))
