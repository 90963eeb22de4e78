import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z, type ZodType } from 'zod'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import type { ResponseDescription, VersionedSchema } from '../../src/http/kit/endpoint.ts'
import { routeFinder } from './route-finder.ts'

const test = suite('the endpoint declarations')

const schemasOf = (schema: VersionedSchema): readonly ZodType[] =>
  schema instanceof z.ZodType ? [schema] : [schema.v3, schema.v4]

type DetailedResponse = Exclude<ResponseDescription, string>

/** Each response that is declared with more than a sentence, with its label. */
const detailedResponses = ENDPOINTS.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, response]) =>
    typeof response === 'string'
      ? []
      : [[`${operationId}, ${status}`, response] as readonly [string, DetailedResponse]],
  ),
)

test('have unique operation ids, which metrics and descriptions use', () => {
  const names = ENDPOINTS.map(({ operationId }) => operationId)
  assert.equal(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  for (const name of names) assert.match(name, /^[a-z][A-Za-z]+$/)
})

test('declare each method of a path once', () => {
  assert.not.throws(() => routeFinder(ENDPOINTS))
})

test('describe each parameter', () => {
  for (const { operationId, pathParameters, requestHeaders = {} } of ENDPOINTS) {
    for (const [parameter, schema] of Object.entries({ ...pathParameters, ...requestHeaders })) {
      assert.type(schema.description, 'string', `${operationId} has no description for ${parameter}`)
    }
  }
})

test('have examples that match their schemas', () => {
  let examples = 0
  for (const [name, { schema, example }] of detailedResponses) {
    if (schema === undefined || example === undefined) continue
    examples++
    const found = schemasOf(schema).map((one) => one.safeParse(example))
    assert.ok(
      // A schema removes members that it does not declare.
      found.some(({ success, data }) => success && isDeepStrictEqual(data, example)),
      `${name}: ${found.map(({ error }) => error?.message).join() || 'it has undeclared members'}`,
    )
  }
  assert.ok(examples > 5, `only ${examples} examples`)
})

test('can be converted to JSON Schema', () => {
  const bodies = ENDPOINTS.flatMap(({ body }) => (body?.schema === undefined ? [] : schemasOf(body.schema)))
  const schemas = detailedResponses.flatMap(([, { schema }]) => (schema === undefined ? [] : schemasOf(schema)))
  for (const schema of bodies) z.toJSONSchema(schema, { io: 'input' })
  for (const schema of schemas) z.toJSONSchema(schema, { io: 'output' })
})

test('belong to groups with distinct path prefixes', () => {
  const prefixes = [...new Set(ENDPOINTS.map(({ group }) => group))].flatMap(({ pathPrefixes: own }) => own)
  for (const one of prefixes) {
    for (const other of prefixes) assert.not(other.startsWith(`${one}/`), `${other} is below ${one}`)
  }
  assert.is(new Set(prefixes).size, prefixes.length)
})

test.run()
