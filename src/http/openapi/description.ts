import { z } from 'zod'
import { createDocument, type CreateDocumentOptions, type ZodOpenApiOperationObject } from 'zod-openapi'
import { expandPath, type ExpandedPath } from '../kit/path-parameters.ts'
import { operationOf, TAGS, type DocumentedEndpoint } from './operation.ts'

/** What a description says beside the endpoints. */
export type ApiInfo = {
  /** BASE_URL, without a slash at its end. */
  readonly baseUrl: string
  readonly version: string
}

/**
 * Describes endpoints in OpenAPI 3.1, from their declarations alone. HEAD (wherever there is GET) and OPTIONS are
 * answered as HTTP has them and stand in no list. The first description of a process takes some 80 ms.
 */
export function createOpenApiDocument(endpoints: readonly DocumentedEndpoint[], { baseUrl, version }: ApiInfo) {
  const paths: OperationsByPath = {}
  for (const endpoint of endpoints) addTo(paths, endpoint)
  linkCreated(paths)
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const isUsed = (scheme: string) => operations.some(({ security = [] }) => security.some((one) => scheme in one))
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
   * zod leaves out the examples and the default of a schema that transforms, since they could be of its output. Ours are
   * as they are sent.
   */
  override({ zodSchema, jsonSchema }) {
    const { examples } = z.globalRegistry.get(zodSchema) ?? {}
    const { def } = zodSchema._zod
    const unset = def.type === 'default' ? def.defaultValue : undefined
    Object.assign(jsonSchema, examples && { examples }, unset !== undefined && { default: unset })
  },
}

type OperationsByPath = Record<string, Record<string, ZodOpenApiOperationObject>>

function addTo(paths: OperationsByPath, endpoint: DocumentedEndpoint): void {
  for (const [alias, path] of endpoint.paths.entries()) {
    for (const expandedPath of expandPath(path, endpoint)) {
      for (const method of endpoint.methods) {
        const name = operationIdOf(endpoint, method, alias === 0 ? undefined : path, expandedPath.fixedParams)
        const operation = operationOf(endpoint, method, name, expandedPath)
        const deprecated = alias === 0 ? {} : { deprecated: true }
        paths[expandedPath.path] = {
          ...paths[expandedPath.path],
          [method.toLowerCase()]: { ...operation, ...deprecated },
        }
      }
    }
  }
}

/** What was made is found again: `POST /v4/diamond` tells the id that stands in `/v4/diamond/{id}`. */
function linkCreated(paths: OperationsByPath): void {
  for (const [path, { post, ...methods }] of Object.entries(paths)) {
    const responses = post?.['responses'] as Readonly<Record<string, object>> | undefined
    const made = responses?.['201']
    const one = paths[`${path}/{id}`]
    if (post === undefined || made === undefined || one === undefined) continue
    const links = Object.fromEntries(
      Object.values(one).map(({ operationId }) => [operationId, { operationId, parameters: CREATED_ID }]),
    )
    paths[path] = { ...methods, post: { ...post, responses: { ...responses, 201: { ...made, links } } } }
  }
}

const CREATED_ID = { id: '$response.body#/id' } as const

/**
 * `listDiamonds`, in the older version `listDiamondsV3`; `modifyDiamondByPatch` by another method than its first, and
 * `shareSecretAtCreate` at another path.
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
      .map(capitalised)
      .join('')
  )
}

/** The segments in which a path differs from the documented one. */
function distinguishingSegmentsOf(alias: string, path: string): string {
  const known = path.split('/')
  return alias
    .split('/')
    .filter((segment) => !known.includes(segment))
    .join(' ')
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const API_DESCRIPTION =
  'An inventory of diamonds: records, laboratory certificates, optical scores, constants, access tokens, and secrets ' +
  'that are read once. Every answer carries X-Request-Id, which the log has too, and X-App-Version.'

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the token server.' },
  'api-token': {
    type: 'http',
    scheme: 'basic',
    description: "The account's e-mail address and an API token of the secrets API.",
  },
  'oauth-client': {
    type: 'http',
    scheme: 'basic',
    description: "An OAuth client's id and secret; they may stand in the body instead.",
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-adamant',
    description: 'What the log-in in a browser sets; without https its name is adamant.',
  },
} as const
