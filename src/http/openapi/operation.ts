import { z, type ZodType } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi'
import type { ResponseDescription, Endpoint, VersionedSchema } from '../kit/endpoint.ts'
import type { ExpandedPath } from '../kit/path-parameters.ts'

/** What any request may be answered: it is no HTTP, its headers are too long, or a store is away. */
export const STATUSES_OF_ANY_REQUEST: readonly number[] = [431, 503]

/** What a body may be refused with. */
const BODY_ERROR_STATUSES: readonly number[] = [400, 408, 413, 415, 422]

type StatusDeclarations = Pick<Endpoint, 'responses' | 'body'> & {
  readonly auth: Pick<Endpoint['auth'], 'errorStatuses'>
}

/** Statuses that follow from what is declared: by the endpoint, by who may ask it, and by how its body is read. */
export const declaredStatuses = ({ responses, auth, body }: StatusDeclarations): Set<number> =>
  new Set([
    ...Object.keys(responses).map(Number),
    ...auth.errorStatuses,
    ...(body === undefined ? [] : BODY_ERROR_STATUSES),
  ])

/** What of an endpoint is described. */
export type DocumentedEndpoint = Omit<Endpoint, 'handler' | 'auth'> & {
  readonly auth: Pick<Endpoint['auth'], 'scheme' | 'errorStatuses'>
}

/** Whether clients of the API call it, and not browsers alone. */
export const isApiEndpoint = ({ group, isBrowserOnly = false }: DocumentedEndpoint): boolean =>
  !isBrowserOnly && group.errorFormat.schema !== undefined

/** The schema of one API version, where they differ. */
export const schemaFor = (schema: VersionedSchema, version: string | undefined): ZodType =>
  schema instanceof z.ZodType ? schema : schema[version === 'v3' ? 'v3' : 'v4']

/**
 * One method of one path, in the form of OpenAPI 3.1, with zod's schemas where that has JSON Schemas.
 * @param name unique among all operations
 * @param way the path with the values that stand in it, such as the API's version
 */
export function operationOf(
  endpoint: DocumentedEndpoint,
  method: string,
  name: string,
  expandedPath: ExpandedPath,
): ZodOpenApiOperationObject {
  const version = expandedPath.fixedParams['version']
  const body = method === 'GET' ? undefined : requestBodyOf(endpoint, version)
  return {
    operationId: name,
    summary: summaryOf(endpoint.summary),
    description: endpoint.summary,
    tags: [tagOf(endpoint, version)],
    security: SECURITY[endpoint.auth.scheme],
    requestParams: parametersOf(endpoint, expandedPath),
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(endpoint, version),
  }
}

/** `Removes a diamond` of `Removes a diamond, and its certifications with it.`: lists of operations show it in a line. */
const summaryOf = (description: string): string => /^.+?(?=[.:;,] |\.?$)/.exec(description)?.[0] ?? description

/** What the families' endpoints are listed under. */
const TAG_BY_GROUP: Readonly<Record<string, string>> = {
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
const tagOf = ({ group }: DocumentedEndpoint, version: string | undefined) =>
  (TAG_BY_GROUP[group.name] ?? group.name) + (version === 'v3' ? ' (v3)' : '')

/** Whom an endpoint answers; a link that is signed carries what it needs in its query. */
const SECURITY: Readonly<Record<DocumentedEndpoint['auth']['scheme'], Record<string, string[]>[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  'api-token': [{ 'api-token': [] }],
  'oauth-client': [{ 'oauth-client': [] }, {}],
  'signed-link': [],
  // Without one they show the log-in.
  cookie: [{ cookie: [] }, {}],
}

function parametersOf(
  { pathParameters, query, requestHeaders = {} }: DocumentedEndpoint,
  { fixedParams }: ExpandedPath,
) {
  const open = Object.entries(pathParameters).filter(([name]) => !(name in fixedParams))
  return {
    path: z.object(Object.fromEntries(open)),
    ...(query !== undefined && { query: parametersIn(schemaFor(query, fixedParams['version'])) }),
    header: z.object(requestHeaders),
  }
}

/** @throws Error for a schema that is no object: a fault of ours */
function parametersIn(schema: ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema
  throw new Error('a query is described by an object of its parameters')
}

function requestBodyOf({ body }: DocumentedEndpoint, version: string | undefined) {
  if (body === undefined) return undefined
  const schema = body.schema && schemaFor(body.schema, version)
  return {
    required: schema?.safeParse({}).success !== true,
    content: Object.fromEntries(body.mediaTypes.filter(Boolean).map((media) => [media, { schema: schema ?? {} }])),
  }
}

function responsesOf(endpoint: DocumentedEndpoint, version: string | undefined) {
  const statuses = [...declaredStatuses(endpoint), ...STATUSES_OF_ANY_REQUEST].toSorted((one, other) => one - other)
  return Object.fromEntries([...new Set(statuses)].map((status) => [status, responseOf(endpoint, status, version)]))
}

function responseOf(
  endpoint: DocumentedEndpoint,
  status: number,
  version: string | undefined,
): ZodOpenApiResponseObject {
  const response = endpoint.responses[status] ?? DEFAULT_ERROR_DESCRIPTIONS[status] ?? 'Refused'
  const details = typeof response === 'string' ? { description: response } : response
  const { headers } = details
  const content = status >= 400 ? refusalOf(endpoint, details, version) : contentOf(details, version)
  return {
    description: details.description,
    ...(headers !== undefined && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, about]) => [name, { description: about, schema: { type: 'string' } }]),
      ),
    }),
    ...(content !== undefined && { content }),
  }
}

type ResponseDetails = Exclude<ResponseDescription, string>

function contentOf({ schema, mediaType, example }: ResponseDetails, version: string | undefined) {
  if (schema === undefined && mediaType === undefined && example === undefined) return undefined
  const body = {
    ...(schema !== undefined && { schema: schemaFor(schema, version) }),
    ...(example !== undefined && { example }),
  }
  return Object.fromEntries([mediaType ?? 'application/json'].flat().map((type) => [type, body]))
}

/** What a refusal reads like: as its own answer says, else as its family writes all of them. */
function refusalOf({ group }: DocumentedEndpoint, details: ResponseDetails, version: string | undefined) {
  return contentOf(details, version) ?? contentOf({ description: '', ...group.errorFormat }, undefined)
}

/** Of statuses that no endpoint declares for itself. */
const DEFAULT_ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
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
