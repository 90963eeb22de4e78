import { z, type ZodType } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { exampleOf } from '../../representations/parse.ts'
import type { ResponseDescription, Endpoint, VersionedSchema } from '../kit/endpoint.ts'
import type { ExpandedPath } from '../kit/path-parameters.ts'

/** Errors that any request may get: headers too long, data store unavailable. */
export const STATUSES_OF_ANY_REQUEST: readonly number[] = [431, 503]

/** Errors that reading a body may cause. */
const BODY_ERROR_STATUSES: readonly number[] = [400, 408, 413, 415, 422]

type StatusDeclarations = Pick<Endpoint, 'responses' | 'body' | 'group' | 'methods'> & {
  readonly auth: Pick<Endpoint['auth'], 'errorStatuses'>
}

/** All statuses that an endpoint, its authentication and its body declare. */
export const declaredStatuses = ({ responses, auth, body, group, methods }: StatusDeclarations): Set<number> =>
  new Set([
    ...(group.refusesUnknownParameters && methods.includes('GET') ? [400] : []),
    ...Object.keys(responses).map(Number),
    ...auth.errorStatuses,
    ...(body === undefined ? [] : BODY_ERROR_STATUSES),
  ])

export type DocumentedEndpoint = Omit<Endpoint, 'handler' | 'auth'> & {
  readonly auth: Pick<Endpoint['auth'], 'scheme' | 'errorStatuses'>
}

/** Whether the endpoint is part of the API, and not only for browsers. */
export const isApiEndpoint = ({ group, isBrowserOnly = false }: DocumentedEndpoint): boolean =>
  !isBrowserOnly && group.errorFormat.schema !== undefined

export const schemaFor = (schema: VersionedSchema, version: string | undefined): ZodType =>
  schema instanceof z.ZodType ? schema : schema[version === 'v3' ? 'v3' : 'v4']

/**
 * Creates the OpenAPI 3.1 operation for one method of one path, with zod schemas in place of JSON Schemas.
 * @param name the operationId, unique in the document
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

/** The first clause, for lists of operations: `Retrieve a diamond` for `Retrieve a diamond, now or at a past time`. */
const summaryOf = (description: string): string => /^.+?(?=[.:;,] |\.?$)/.exec(description)?.[0] ?? description

/** In the order of the API reference. Every operation has one tag. */
export const TAGS = [
  { name: 'Token server', description: 'Issue, refresh, revoke and introspect access tokens (OAuth 2.0, RFC 6749).' },
  {
    name: 'Inventory',
    description:
      'Diamonds, their certifications and 3D files, imports, exports and feeds for partners, the change feed, and webhooks.',
  },
  { name: 'Inventory (v3)', description: 'The older version of the Diamond API: grades and shapes are integer ids.' },
  { name: 'Platform', description: 'Constants, the transparency log, health checks and metrics.' },
  { name: 'Front page', description: 'The entry page, with links and a form for sharing a secret.' },
  { name: 'Report pages', description: 'Web pages with the report of a diamond.' },
  { name: 'Inventory pages', description: "Web pages with an account's own inventory." },
  { name: 'Secrets', description: 'One-time secrets.' },
  { name: 'Secret pages', description: 'Web pages for the sender and the reader of a secret.' },
] as const

/** v3 has its own tag, because new clients do not use it. */
const tagOf = ({ group }: DocumentedEndpoint, version: string | undefined) =>
  group.tag + (version === 'v3' ? ' (v3)' : '')

/** Security requirements. A signed link needs none, since its query contains the signature. */
const SECURITY: Readonly<Record<DocumentedEndpoint['auth']['scheme'], Record<string, string[]>[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  'api-token': [{ 'api-token': [] }],
  'oauth-client': [{ 'oauth-client': [] }, {}],
  'signed-link': [],
  // Without a session, these pages show the log-in form.
  cookie: [{ cookie: [] }, {}],
}

function parametersOf(
  { pathParameters, query, requestHeaders = {} }: DocumentedEndpoint,
  { fixedParams }: ExpandedPath,
) {
  const freeParameters = Object.entries(pathParameters).filter(([name]) => !(name in fixedParams))
  return {
    path: z.object(Object.fromEntries(freeParameters)),
    ...(query !== undefined && { query: requireObjectSchema(schemaFor(query, fixedParams['version'])) }),
    header: z.object(requestHeaders),
  }
}

/** @throws Error if the schema is not an object */
function requireObjectSchema(schema: ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema
  throw new Error('the schema of a query must be an object')
}

function requestBodyOf({ body }: DocumentedEndpoint, version: string | undefined) {
  if (body === undefined) return undefined
  const schema = body.schema && schemaFor(body.schema, version)
  const example = schema && exampleOf(schema)
  return {
    required: schema?.safeParse({}).success !== true,
    content: Object.fromEntries(
      body.mediaTypes.filter(Boolean).map((mediaType) => {
        // A form with a file has examples of its members only.
        const hasExample = example !== undefined && mediaType !== 'multipart/form-data'
        return [mediaType, { schema: schema ?? {}, ...(hasExample && { example }) }]
      }),
    ),
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
  const response = endpoint.responses[status] ?? DEFAULT_ERROR_DESCRIPTIONS[status] ?? 'Error'
  const details = typeof response === 'string' ? { description: response } : response
  const { headers } = details
  const content = status >= 400 ? errorContentOf(endpoint, details, version) : contentOf(details, version)
  return {
    description: details.description,
    ...(headers !== undefined && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
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

/** The body of an error: as the endpoint declares it, else in the group's error format. */
function errorContentOf({ group }: DocumentedEndpoint, details: ResponseDetails, version: string | undefined) {
  return contentOf(details, version) ?? contentOf({ description: '', ...group.errorFormat }, undefined)
}

/** For statuses that the endpoint itself does not declare. */
const DEFAULT_ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Malformed request',
  401: 'Missing or invalid credentials',
  403: 'Forbidden',
  408: 'The body was sent too slowly',
  413: 'The body is too large',
  415: 'Unsupported content type, encoding or charset',
  422: 'Validation failed',
  429: 'Too many requests; retry after the time in Retry-After',
  431: 'The headers are too large',
  503: 'A data store is unavailable; retry after the time in Retry-After',
}
