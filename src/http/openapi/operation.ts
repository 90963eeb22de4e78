import { z, type ZodType } from 'zod'
import type { AnswerDescription, Endpoint } from '../kit/endpoint.ts'
import type { WrittenOut } from '../kit/paths.ts'
import { ANY_REQUEST, declaredStatuses } from '../kit/statuses.ts'
import { schemaFor, type JsonSchema, type Schemas } from './schemas.ts'

/** What of an endpoint is described. */
export type Described = Omit<Endpoint, 'run' | 'who'> & { readonly who: Pick<Endpoint['who'], 'scheme' | 'refuses'> }

/** Whether clients of the API call it, and not browsers alone. */
export const isForPrograms = ({ family, forBrowsers = false }: Described): boolean =>
  !forBrowsers && family.refusals.schema !== undefined

/** What stands beside one method of one path. */
export type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  /** Schemes by name, each with its scopes: one of them is enough. */
  readonly security: readonly object[]
  readonly [member: string]: unknown
}

/**
 * One method of one path, in the form of OpenAPI 3.1.
 * @param name unique among all operations
 * @param way the path with the values that stand in it, such as the API's version
 */
export function operationOf(endpoint: Described, method: string, name: string, way: WrittenOut, schemas: Schemas) {
  const version = way.fixed['version']
  const body = method === 'GET' ? undefined : requestBodyOf(endpoint, version, schemas)
  const operation: Operation = {
    operationId: name,
    summary: headingOf(endpoint.about),
    description: endpoint.about,
    tags: [tagOf(endpoint, version)],
    security: SECURITY[endpoint.who.scheme],
    parameters: parametersOf(endpoint, way, schemas),
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(endpoint, version, schemas),
  }
  return operation
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
const SECURITY: Readonly<Record<Described['who']['scheme'], readonly object[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  'api-token': [{ 'api-token': [] }],
  'oauth-client': [{ 'oauth-client': [] }, {}],
  'signed-link': [],
  // Without one they show the log-in.
  cookie: [{ cookie: [] }, {}],
}

type Place = 'path' | 'query' | 'header'

function parametersOf(endpoint: Described, { fixed }: WrittenOut, schemas: Schemas): object[] {
  const { parameters, query, requestHeaders = {} } = endpoint
  const open = Object.entries(parameters).filter(([name]) => !(name in fixed))
  const asked = query === undefined ? {} : shapeOf(schemaFor(query, fixed['version']))
  const all: (readonly [Place, string, ZodType])[] = [
    ...open.map(([name, schema]) => ['path', name, schema] as const),
    ...Object.entries(asked).map(([name, schema]) => ['query', name, schema] as const),
    ...Object.entries(requestHeaders).map(([name, schema]) => ['header', name, schema] as const),
  ]
  return all.map(([place, name, schema]) => parameterOf(place, name, schema, schemas))
}

function parameterOf(place: Place, name: string, schema: ZodType, schemas: Schemas): object {
  const { description, ...own } = schemas.of(schema, 'input')
  return {
    name,
    in: place,
    ...(description !== undefined && { description }),
    required: place === 'path' || (place === 'query' && !schema.safeParse(undefined).success),
    schema: own,
  }
}

/** A query's parameters, by their names. @throws Error for a schema that is no object: a fault of ours */
function shapeOf(schema: ZodType): Readonly<Record<string, ZodType>> {
  if (schema instanceof z.ZodObject) return schema.shape as Readonly<Record<string, ZodType>>
  throw new Error('a query is described by an object of its parameters')
}

function requestBodyOf({ body }: Described, version: string | undefined, schemas: Schemas): object | undefined {
  if (body === undefined) return undefined
  const schema = body.schema === undefined ? {} : schemas.of(schemaFor(body.schema, version), 'input')
  return {
    required: body.schema === undefined || !schemaFor(body.schema, version).safeParse({}).success,
    content: Object.fromEntries(body.media.filter(Boolean).map((media) => [media, { schema }])),
  }
}

function responsesOf(endpoint: Described, version: string | undefined, schemas: Schemas): object {
  const statuses = [...declaredStatuses(endpoint), ...ANY_REQUEST].toSorted((one, other) => one - other)
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => [status, responseOf(endpoint, status, version, schemas)]),
  )
}

function responseOf(endpoint: Described, status: number, version: string | undefined, schemas: Schemas): object {
  const answer = endpoint.answers[status] ?? REFUSED[status] ?? 'Refused'
  const said = typeof answer === 'string' ? { about: answer } : answer
  const { headers } = said
  const content = status >= 400 ? refusalOf(endpoint, said, version, schemas) : contentOf(said, version, schemas)
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

function contentOf({ schema, media, example }: Said, version: string | undefined, schemas: Schemas) {
  if (schema === undefined && media === undefined && example === undefined) return undefined
  const shown: JsonSchema = schema === undefined ? {} : schemas.of(schemaFor(schema, version), 'output')
  const body = { ...(schema !== undefined && { schema: shown }), ...(example !== undefined && { example }) }
  return Object.fromEntries([media ?? 'application/json'].flat().map((type) => [type, body]))
}

/** What a refusal reads like: as its own answer says, else as its family writes all of them. */
function refusalOf({ family }: Described, said: Said, version: string | undefined, schemas: Schemas) {
  return contentOf(said, version, schemas) ?? contentOf({ about: '', ...family.refusals }, undefined, schemas)
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
