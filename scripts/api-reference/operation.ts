import { membersOf } from '../schema-members.ts'
import { markdownTable } from './table.ts'
import { linkedType } from './types.ts'

type Schema = Readonly<Record<string, unknown>>
type ContentByMediaType = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
type ParameterObject = {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}
type ResponseObject = {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
  readonly content?: ContentByMediaType
}
type OperationObject = {
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly ParameterObject[]
  readonly requestBody?: { readonly required: boolean; readonly content: ContentByMediaType }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export type ListedOperation = { readonly method: string; readonly path: string; readonly operation: OperationObject }

export const operationsIn = (paths: Readonly<Record<string, object>>): ListedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as OperationObject,
    })),
  )

/** Statuses that almost every operation can return. README.md describes them once. */
const COMMON_STATUSES = new Set(['408', '413', '415', '431', '503'])

export function operationText({ method, path, operation }: ListedOperation): string {
  const { description, security, parameters, requestBody, responses } = operation
  const parameterRows = parameters.map(({ name, in: location, required, description = '', schema }) => [
    `\`${name}\``,
    location,
    `${linkedType(schema)}${required ? '' : ', optional'}`,
    description,
  ])
  const responseRows = Object.entries(responses)
    .filter(([status]) => !COMMON_STATUSES.has(status))
    .map(([status, response]) => [status, responseDescription(response), contentText(response.content)])
  return [
    `## ${method} ${path}`,
    description,
    `Authentication: ${authenticationText(security)}.`,
    ...(parameterRows.length === 0 ? [] : [markdownTable(['parameter', 'in', 'type', 'description'], parameterRows)]),
    ...(requestBody === undefined ? [] : [bodyText(requestBody), ...exampleIn(requestBody.content)]),
    markdownTable(['response', 'description', 'body'], responseRows),
    ...Object.values(responses).flatMap(({ content = {} }) => exampleIn(content)),
  ].join('\n\n')
}

const AUTHENTICATION: Readonly<Record<string, string>> = {
  bearer: 'access token (`Authorization: Bearer`)',
  'api-token': 'account email and API token (`Authorization: Basic`)',
  'oauth-client': 'client id and secret (`Authorization: Basic`, or in the body)',
  cookie: 'browser session (without one, the log-in form is shown)',
}

function authenticationText(security: OperationObject['security']): string {
  const names = security.flatMap((scheme) => Object.keys(scheme)).map((name) => AUTHENTICATION[name] ?? name)
  return names.length === 0 ? 'none' : names.join(' or ')
}

const responseDescription = ({ description, headers = {} }: ResponseObject) =>
  [description, ...Object.entries(headers).map(([name, header]) => `\`${name}\`: ${header.description}`)].join('; ')

const contentText = (content: ContentByMediaType = {}) =>
  Object.entries(content)
    .map(([media, { schema }]) => {
      const type = schema === undefined ? '' : linkedType(schema)
      return media === 'application/json' && type !== '' ? type : media
    })
    .join(' or ')

function bodyText({ required, content }: NonNullable<OperationObject['requestBody']>): string {
  const [schema] = Object.values(content).map((one) => one.schema)
  const media = Object.keys(content).join(' or ')
  const members = schema === undefined || '$ref' in schema ? [] : membersOf(schema)
  const rows = members.map(({ name, type, description }) => [`\`${name}\``, type, description])
  const type = schema === undefined || members.length > 0 ? '' : `: ${linkedType(schema)}`
  const heading = `Body (${media}${required ? '' : '; optional'})${type}`
  return rows.length === 0 ? heading : `${heading}\n\n${markdownTable(['member', 'type', 'description'], rows)}`
}

/** The example of a body, the same for all of its media types. */
function exampleIn(content: ContentByMediaType): readonly string[] {
  const example = Object.values(content).find((one) => one.example !== undefined)?.example
  return example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``]
}
