import { z, type ZodType } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi'
import type { AnswerDescription, Endpoint, Schema } from '../kit/endpoint.ts'
import type { WrittenOut } from '../kit/paths.ts'

/** What any request may be answered: it is no HTTP, its headers are too long, or a store is away. */
export const ANY_REQUEST: readonly number[] = [431, 503]

/** What a body may be refused with. */
const OF_BODIES: readonly number[] = [400, 408, 413, 415, 422]

type Declared = Pick<Endpoint, 'answers' | 'body'> & { readonly who: Pick<Endpoint['who'], 'refuses'> }

/** Statuses that follow from what is declared: by the endpoint, by who may ask it, and by how its body is read. */
export const declaredStatuses = ({ answers, who, body }: Declared): Set<number> =>
  new Set([...Object.keys(answers).map(Number), ...who.refuses, ...(body === undefined ? [] : OF_BODIES)])

/** What of an endpoint is described. */
export type Described = Omit<Endpoint, 'run' | 'who'> & { readonly who: Pick<Endpoint['who'], 'scheme' | 'refuses'> }

/** Whether clients of the API call it, and not browsers alone. */
export const isForPrograms = ({ family, forBrowsers = false }: Described): boolean =>
  !forBrowsers && family.refusals.schema !== undefined

/** The schema of one API version, where they differ. */
export const schemaFor = (schema: Schema, version: string | undefined): ZodType =>
  schema instanceof z.ZodType ? schema : schema[version === 'v3' ? 'v3' : 'v4']

/**
 * One method of one path, in the form of OpenAPI 3.1, with zod's schemas where that has JSON Schemas.
 * @param name unique among all operations
 * @param way the path with the values that stand in it, such as the API's version
 */
export function operationOf(
  endpoint: Described,
  method: string,
  name: string,
  way: WrittenOut,
): ZodOpenApiOperationObject {
  const version = way.fixed['version']
  const body = method === 'GET' ? undefined : requestBodyOf(endpoint, version)
  return {
    operationId: name,
    summary: headingOf(endpoint.about),
    description: endpoint.about,
    tags: [tagOf(endpoint, version)],
    security: SECURITY[endpoint.who.scheme],
    requestParams: parametersOf(endpoint, way),
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(endpoint, version),
  }
}

/** `Removes a diamond` of `Removes a diamond, and its certifications with it.`: lists of operations show it in a line. */
const headingOf = (about: string): string => /^.+?(?=[.:;,] |\.?$)/.exec(about)?.[0] ?? about

/** What the families' endpoints are listed under. */
const LISTED: Readonly<Record<string, string>> = {
  owned: 'Inventory',
  changes: 'Inventory',
  platform: 'Platform',
  oauth: 'Token server',
  secrets: 'Secrets',
  report: 'Report pages',
  'secret pages': 'Secret pages',
  front: 'Front page',
  'inventory pages': 'Inventory pages',
}

/** In the order in which a reader comes to them; every operation has one of them. */
export const TAGS = [
  { name: 'Token server', description: 'Access tokens for a password (OAuth 2.0, RFC 6749).' },
  { name: 'Inventory', description: 'Diamonds, their certifications and 3D files, changes, and webhooks.' },
  { name: 'Inventory (v3)', description: 'The older version of the diamonds: grades and shapes are ids.' },
  { name: 'Platform', description: 'Constants, evidence of the log, health and metrics.' },
  { name: 'Front page', description: 'What this service is; in a browser, a form that shares a secret.' },
  { name: 'Report pages', description: 'A stone for people.' },
  { name: 'Inventory pages', description: 'An inventory for its owner, in a browser.' },
  { name: 'Secrets', description: 'Values that are read once.' },
  { name: 'Secret pages', description: 'Where people open a link, and share a value themselves.' },
] as const

/** The older version of the inventory stands apart, since few begin with it. */
const tagOf = ({ family }: Described, version: string | undefined) =>
  (LISTED[family.name] ?? family.name) + (version === 'v3' ? ' (v3)' : '')

/** Whom an endpoint answers; a link that is signed carries what it needs in its query. */
const SECURITY: Readonly<Record<Described['who']['scheme'], Record<string, string[]>[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  'api-token': [{ 'api-token': [] }],
  'oauth-client': [{ 'oauth-client': [] }, {}],
  'signed-link': [],
  // Without one they show the log-in.
  cookie: [{ cookie: [] }, {}],
}

function parametersOf({ parameters, query, requestHeaders = {} }: Described, { fixed }: WrittenOut) {
  const open = Object.entries(parameters).filter(([name]) => !(name in fixed))
  return {
    path: z.object(Object.fromEntries(open)),
    ...(query !== undefined && { query: parametersIn(schemaFor(query, fixed['version'])) }),
    header: z.object(requestHeaders),
  }
}

/** @throws Error for a schema that is no object: a fault of ours */
function parametersIn(schema: ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema
  throw new Error('a query is described by an object of its parameters')
}

function requestBodyOf({ body }: Described, version: string | undefined) {
  if (body === undefined) return undefined
  const schema = body.schema && schemaFor(body.schema, version)
  return {
    required: schema?.safeParse({}).success !== true,
    content: Object.fromEntries(body.media.filter(Boolean).map((media) => [media, { schema: schema ?? {} }])),
  }
}

function responsesOf(endpoint: Described, version: string | undefined) {
  const statuses = [...declaredStatuses(endpoint), ...ANY_REQUEST].toSorted((one, other) => one - other)
  return Object.fromEntries([...new Set(statuses)].map((status) => [status, responseOf(endpoint, status, version)]))
}

function responseOf(endpoint: Described, status: number, version: string | undefined): ZodOpenApiResponseObject {
  const answer = endpoint.answers[status] ?? REFUSED[status] ?? 'Refused'
  const said = typeof answer === 'string' ? { about: answer } : answer
  const { headers } = said
  const content = status >= 400 ? refusalOf(endpoint, said, version) : contentOf(said, version)
  return {
    description: said.about,
    ...(headers !== undefined && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, about]) => [name, { description: about, schema: { type: 'string' } }]),
      ),
    }),
    ...(content !== undefined && { content }),
  }
}

type Said = Exclude<AnswerDescription, string>

function contentOf({ schema, media, example }: Said, version: string | undefined) {
  if (schema === undefined && media === undefined && example === undefined) return undefined
  const body = {
    ...(schema !== undefined && { schema: schemaFor(schema, version) }),
    ...(example !== undefined && { example }),
  }
  return Object.fromEntries([media ?? 'application/json'].flat().map((type) => [type, body]))
}

/** What a refusal reads like: as its own answer says, else as its family writes all of them. */
function refusalOf({ family }: Described, said: Said, version: string | undefined) {
  return contentOf(said, version) ?? contentOf({ about: '', ...family.refusals }, undefined)
}

/** Of statuses that no endpoint declares for itself. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'The request is not readable',
  401: 'Without credentials that are good',
  403: 'For others',
  408: 'The body came too slowly',
  413: 'The body is too long',
  415: 'The body is of a type that is not read',
  422: 'What is asked for can not be',
  429: 'Too many requests; Retry-After says when to come again',
  431: 'The headers are too long',
  503: 'A store is not reachable; Retry-After says when to come again',
}
