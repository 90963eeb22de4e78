import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newInstallation, type NewInstallation } from './new-installation.ts'

const PAGE = 'docs/requests.http'
const test = suite<{ given: NewInstallation }>(PAGE)
test.before(async (context) => {
  context.given = await newInstallation()
})
test.after(({ given }) => given.remove())

type HttpRequest = { readonly title: string; readonly name: string | undefined; readonly lines: readonly string[] }

/** The requests of the file in REST Client's format: `###` starts a request, `# @name` names its response. */
function requestsIn(text: string): HttpRequest[] {
  const [, ...parts] = text.split(/^###/m)
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    const name = lines.map((line) => /^# @name (\w+)$/.exec(line)?.[1]).find((found) => found !== undefined)
    return { title: title.trim(), name, lines: lines.filter((line) => !line.startsWith('#')) }
  })
}

/** Replaces references to the file's variables and to members of named responses. */
function replaceVariables(
  text: string,
  variables: Readonly<Record<string, string>>,
  responses: ReadonlyMap<string, object>,
): string {
  return text.replaceAll(/\{\{([\w.]+)\}\}/g, (_all, path: string) => {
    const [name = '', , , member = ''] = path.split('.')
    const value = path.includes('.') ? (responses.get(name) as Record<string, unknown>)[member] : variables[name]
    if (value === undefined) throw new Error(`${path} is not known`)
    return String(value)
  })
}

test('has requests that all succeed in order', async ({ given: { env } }) => {
  const text = readFileSync(new URL('../../docs/requests.http', import.meta.url), 'utf8')
  const named = [...text.matchAll(/^@(\w+) = /gm)].map(([, name = '']) => name)
  const variables = Object.fromEntries(named.map((name) => [name, env[name.toUpperCase()] ?? '']))
  const responses = new Map<string, object>()
  for (const { title, name, lines } of requestsIn(text)) {
    const [head = '', ...rest] = replaceVariables(lines.join('\n'), variables, responses).trim().split('\n')
    const [method = '', url = ''] = head.split(' ')
    const blank = rest.indexOf('')
    const [fields, body] = blank < 0 ? [rest, ''] : [rest.slice(0, blank), rest.slice(blank + 1).join('\n')]
    const headers = new Headers(fields.map((line) => line.split(': ') as [string, string]))
    const [, user] = /^Basic (.*:.*)$/.exec(headers.get('authorization') ?? '') ?? []
    // REST Client accepts a plain user and password and encodes them.
    if (user !== undefined) headers.set('authorization', `Basic ${btoa(user)}`)
    const response = await fetch(url, { method, headers, ...(body !== '' && { body }) })
    const responseBody = await response.text()
    assert.ok(response.ok, `${title} failed with ${response.status} ${responseBody}`)
    if (name !== undefined) responses.set(name, JSON.parse(responseBody) as object)
  }
})

test.run()
