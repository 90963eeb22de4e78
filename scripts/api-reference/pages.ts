import { format } from 'prettier'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import { createOpenApiDocument } from '../../src/http/openapi/description.ts'
import type { JsonSchema } from '../../src/events/catalogue.ts'
import { membersOf, type Member } from '../schema-members.ts'
import { operationsIn, operationText, type Listed } from './operation.ts'
import { tableOf } from './table.ts'
import { shownType } from './types.ts'

/** Where the types of bodies stand. */
export const TYPES_FILE = 'types.md'

/** The reference of the API in Markdown, for who has no service at hand: each file's name and text. */
export async function apiPages(): Promise<[file: string, text: string][]> {
  const { tags = [], paths = {}, components } = createOpenApiDocument(ENDPOINTS, { baseUrl: '', version: '' })
  const operations = operationsIn(paths)
  const parts = tags.map(({ name }) => ({
    name,
    file: fileOf(name),
    operations: operations.filter(({ operation }) => operation.tags[0] === name),
  }))
  const pages: [string, string][] = [
    ['README.md', contents(parts)],
    ...parts.map((part): [string, string] => [part.file, partText(part)]),
    [TYPES_FILE, typesText(components?.schemas ?? {})],
  ]
  return Promise.all(
    pages.map(async ([file, text]) => [file, await format(text, { parser: 'markdown', printWidth: 180 })]),
  )
}

type Part = { readonly name: string; readonly file: string; readonly operations: readonly Listed[] }

const fileOf = (tag: string) =>
  `${tag
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')}.md`

const INTRODUCTION = `# Reference of the API

Every path, parameter, body, answer and error, made of what \`src/http\` declares by \`npm run docs:api\`. A running service has it at \`/docs\`, to try out, and at
\`/openapi.json\`, without the pages that browsers ask for. [docs/api.md](../api.md) tells how to use it.

HEAD answers wherever GET does, and OPTIONS everywhere. Every answer carries \`X-Request-Id\` and \`X-App-Version\`. Any request may be answered 431 (its headers are too long) or 503
(a store is away; \`Retry-After\` says when to come again); where a body is read, also 400, 408, 413, 415 and 422.`

function contents(parts: readonly Part[]): string {
  const sections = parts.map(({ name, file, operations }) => {
    const rows = operations.map(({ method, path, operation }) => [
      `[\`${method} ${path}\`](${file}#${anchorOf(method, path)})`,
      operation.description,
    ])
    return `## [${name}](${file})\n\n${tableOf(['request', 'what it does'], rows)}`
  })
  return [INTRODUCTION, ...sections, `## [Types](${TYPES_FILE})`].join('\n\n')
}

/** As code hosts make the anchor of a heading. */
const anchorOf = (method: string, path: string) =>
  `${method} ${path}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

const partText = ({ name, operations }: Part) =>
  [`# ${name}`, 'Made by `npm run docs:api`; [all of it](README.md).', ...operations.map(operationText)].join('\n\n')

function typesText(schemas: object): string {
  const byName = Object.entries(schemas as Readonly<Record<string, JsonSchema>>)
  const sorted = byName.toSorted(([one], [other]) => (one < other ? -1 : 1))
  const sections = sorted.map(([name, schema]) => {
    const rows = membersOf(schema).map(rowOf)
    return `## ${name}\n\n${rows.length === 0 ? shownType(schema) : tableOf(['member', 'type', 'what it is'], rows)}`
  })
  return ['# Types of bodies', 'Made by `npm run docs:api`; [all of it](README.md).', ...sections].join('\n\n')
}

const rowOf = ({ name, type, about }: Member) => [`\`${name}\``, type, about]
