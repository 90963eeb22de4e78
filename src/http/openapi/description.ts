import { z } from 'zod'
import { createDocument, type CreateDocumentOptions, type ZodOpenApiOperationObject } from 'zod-openapi'
import { expandPath, type ExpandedPath } from '../kit/path-parameters.ts'
import { operationOf, TAGS, type DocumentedEndpoint } from './operation.ts'

type ApiInfo = {
  /** BASE_URL without a trailing slash. */
  readonly baseUrl: string
  readonly version: string
}

/**
 * Generates the OpenAPI 3.1 document from the endpoint declarations. HEAD and OPTIONS are supported everywhere but not
 * listed. The first call in a process takes about 80 ms.
 */
export function createOpenApiDocument(endpoints: readonly DocumentedEndpoint[], { baseUrl, version }: ApiInfo) {
  const paths: OperationsByPath = {}
  for (const endpoint of endpoints) addTo(paths, endpoint)
  addCreatedLinks(paths)
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const isUsed = (scheme: string) =>
    operations.some(({ security = [] }) => security.some((requirement) => scheme in requirement))
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Adamant',
        version,
        description: API_DESCRIPTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
        contact: { name: 'The operator of this service', url: baseUrl },
      },
      servers: [{ url: baseUrl }],
      tags: TAGS.filter(({ name }) => operations.some(({ tags = [] }) => tags.includes(name))),
      paths,
      components: {
        securitySchemes: Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => isUsed(name))),
      },
    },
    DOCUMENT_OPTIONS,
  )
}

const DOCUMENT_OPTIONS: CreateDocumentOptions = {
  /**
   * zod omits the examples and default of a schema with a transform, since they could describe its output. Ours describe
   * the input. zod gives an integer without limits those of a number that JSON can hold; the lower one says nothing.
   */
  override({ zodSchema, jsonSchema }) {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    const { examples } = z.globalRegistry.get(zodSchema) ?? {}
    const { def } = zodSchema._zod
    const defaultValue = def.type === 'default' ? def.defaultValue : undefined
    Object.assign(jsonSchema, examples && { examples }, defaultValue !== undefined && { default: defaultValue })
  },
}

type OperationsByPath = Record<string, Record<string, ZodOpenApiOperationObject>>

function addTo(paths: OperationsByPath, endpoint: DocumentedEndpoint): void {
  for (const [index, path] of endpoint.paths.entries()) {
    for (const expandedPath of expandPath(path, endpoint)) {
      for (const method of endpoint.methods) {
        const name = operationIdOf(endpoint, method, index === 0 ? undefined : path, expandedPath.fixedParams)
        const operation = operationOf(endpoint, method, name, expandedPath)
        const deprecated = index === 0 ? {} : { deprecated: true }
        paths[expandedPath.path] = {
          ...paths[expandedPath.path],
          [method.toLowerCase()]: { ...operation, ...deprecated },
        }
      }
    }
  }
}

/** Adds OpenAPI links: the id in the response to `POST /v4/diamond` is the parameter of `/v4/diamond/{id}`. */
function addCreatedLinks(paths: OperationsByPath): void {
  for (const [path, { post, ...methods }] of Object.entries(paths)) {
    const responses = post?.['responses'] as Readonly<Record<string, object>> | undefined
    const createdResponse = responses?.['201']
    const itemOperations = paths[`${path}/{id}`]
    if (post === undefined || createdResponse === undefined || itemOperations === undefined) continue
    const links = Object.fromEntries(
      Object.values(itemOperations).map(({ operationId }) => [operationId, { operationId, parameters: CREATED_ID }]),
    )
    paths[path] = { ...methods, post: { ...post, responses: { ...responses, 201: { ...createdResponse, links } } } }
  }
}

const CREATED_ID = { id: '$response.body#/id' } as const

/**
 * A unique operation id: `listDiamonds`, `listDiamondsV3` for v3, `modifyDiamondByPatch` for a method other than the first,
 * `shareSecretAtCreate` for an alias path.
 */
function operationIdOf(
  { operationId, methods, paths }: DocumentedEndpoint,
  method: string,
  alias: string | undefined,
  { version, ...fixedParams }: ExpandedPath['fixedParams'],
): string {
  const parts = [
    ...Object.values(fixedParams),
    ...(method === methods[0] ? [] : [`by ${method.toLowerCase()}`]),
    ...(alias === undefined ? [] : [`at ${distinguishingSegmentsOf(alias, paths[0] ?? '')}`]),
    ...(version === 'v3' ? [version] : []),
  ]
  return (
    operationId +
    parts
      .flatMap((part) => part.split(/\W+/))
      .map(capitalise)
      .join('')
  )
}

/** The path segments of an alias that the documented path does not have. */
function distinguishingSegmentsOf(alias: string, path: string): string {
  const documentedSegments = path.split('/')
  return alias
    .split('/')
    .filter((segment) => !documentedSegments.includes(segment))
    .join(' ')
}

const capitalise = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const API_DESCRIPTION =
  'A diamond inventory: records, laboratory reports, optical scores, constants, access tokens, and one-time secrets. ' +
  'Every response has an X-Request-Id header, which identifies the request in the log, and X-App-Version.'

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token issued by the token server.' },
  'api-token': {
    type: 'http',
    scheme: 'basic',
    description: "The account's e-mail address and an API token of the secrets API.",
  },
  'oauth-client': {
    type: 'http',
    scheme: 'basic',
    description: 'The id and secret of an OAuth client. They may be sent in the body instead.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-adamant',
    description: 'The session cookie set by the browser log-in. Its name is `adamant` if BASE_URL is not https.',
  },
} as const
