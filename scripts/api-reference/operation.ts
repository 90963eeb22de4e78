import { membersOf } from '../schema-members.ts'
import { tableOf } from './table.ts'
import { shownType } from './types.ts'

type Schema = Readonly<Record<string, unknown>>
type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}
type Response = {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
  readonly content?: Content
}
type Described = {
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export type Listed = { readonly method: string; readonly path: string; readonly operation: Described }

export const operationsIn = (paths: Readonly<Record<string, object>>): Listed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Described,
    })),
  )

/** Statuses that almost every operation can return. README.md describes them once. */
const EVERYWHERE = new Set(['408', '413', '415', '431', '503'])

export function operationText({ method, path, operation }: Listed): string {
  const { description, security, parameters, requestBody, responses } = operation
  const asked = parameters.map(({ name, in: place, required, description = '', schema }) => [
    `\`${name}\``,
    place,
    `${shownType(schema)}${required ? '' : ', optional'}`,
    description,
  ])
  const answers = Object.entries(responses)
    .filter(([status]) => !EVERYWHERE.has(status))
    .map(([status, response]) => [status, aboutAnswer(response), contentText(response.content)])
  return [
    `## ${method} ${path}`,
    description,
    `Authentication: ${askers(security)}.`,
    ...(asked.length === 0 ? [] : [tableOf(['parameter', 'in', 'type', 'description'], asked)]),
    ...(requestBody === undefined ? [] : [bodyText(requestBody)]),
    tableOf(['response', 'description', 'body'], answers),
    ...examplesIn(responses),
  ].join('\n\n')
}

const ASKERS: Readonly<Record<string, string>> = {
  bearer: 'access token (`Authorization: Bearer`)',
  'api-token': 'account email and API token (`Authorization: Basic`)',
  'oauth-client': 'client id and secret (`Authorization: Basic`, or in the body)',
  cookie: 'browser session (without one, the log-in form is shown)',
}

function askers(security: Described['security']): string {
  const names = security.flatMap((scheme) => Object.keys(scheme)).map((name) => ASKERS[name] ?? name)
  return names.length === 0 ? 'none' : names.join(' or ')
}

const aboutAnswer = ({ description, headers = {} }: Response) =>
  [description, ...Object.entries(headers).map(([name, header]) => `\`${name}\`: ${header.description}`)].join('; ')

const contentText = (content: Content = {}) =>
  Object.entries(content)
    .map(([media, { schema }]) => {
      const type = schema === undefined ? '' : shownType(schema)
      return media === 'application/json' && type !== '' ? type : media
    })
    .join(' or ')

function bodyText({ required, content }: NonNullable<Described['requestBody']>): string {
  const [schema] = Object.values(content).map((one) => one.schema)
  const media = Object.keys(content).join(' or ')
  const members = schema === undefined || '$ref' in schema ? [] : membersOf(schema)
  const rows = members.map(({ name, type, about }) => [`\`${name}\``, type, about])
  const type = schema === undefined || members.length > 0 ? '' : `: ${shownType(schema)}`
  const said = `Body (${media}${required ? '' : '; optional'})${type}`
  return rows.length === 0 ? said : `${said}\n\n${tableOf(['member', 'type', 'description'], rows)}`
}

const examplesIn = (responses: Described['responses']) =>
  Object.values(responses).flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ example }) =>
      example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``],
    ),
  )
