import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z, type ZodType } from 'zod'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import type { ResponseDescription, VersionedSchema } from '../../src/http/kit/endpoint.ts'
import { routeFinder } from './found-route.ts'

const test = suite('the declarations of endpoints')

const schemasOf = (schema: VersionedSchema): readonly ZodType[] =>
  schema instanceof z.ZodType ? [schema] : [schema.v3, schema.v4]

type Described = Exclude<ResponseDescription, string>

/** Each answer that says more than one sentence, with the name to tell it by. */
const described = ENDPOINTS.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, answer]) =>
    typeof answer === 'string' ? [] : [[`${operationId}, ${status}`, answer] as readonly [string, Described]],
  ),
)

test('have names of their own, which metrics and descriptions are told apart by', () => {
  const names = ENDPOINTS.map(({ operationId }) => operationId)
  assert.equal(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  for (const name of names) assert.match(name, /^[a-z][A-Za-z]+$/)
})

test('claim no method of a path twice', () => {
  assert.not.throws(() => routeFinder(ENDPOINTS))
})

test('say of each parameter what it is', () => {
  for (const { operationId, pathParameters, requestHeaders = {} } of ENDPOINTS) {
    for (const [parameter, schema] of Object.entries({ ...pathParameters, ...requestHeaders })) {
      assert.type(schema.description, 'string', `${operationId} says nothing of ${parameter}`)
    }
  }
})

test('give examples that are as their schemas say', () => {
  let examples = 0
  for (const [name, { schema, example }] of described) {
    if (schema === undefined || example === undefined) continue
    examples++
    const found = schemasOf(schema).map((one) => one.safeParse(example))
    assert.ok(
      // What a schema does not name it takes away.
      found.some(({ success, data }) => success && isDeepStrictEqual(data, example)),
      `${name}: ${found.map(({ error }) => error?.message).join() || 'it has more'}`,
    )
  }
  assert.ok(examples > 5, `only ${examples} examples`)
})

test('can be told in JSON Schema', () => {
  const bodies = ENDPOINTS.flatMap(({ body }) => (body?.schema === undefined ? [] : schemasOf(body.schema)))
  const answers = described.flatMap(([, { schema }]) => (schema === undefined ? [] : schemasOf(schema)))
  for (const schema of bodies) z.toJSONSchema(schema, { io: 'input' })
  for (const schema of answers) z.toJSONSchema(schema, { io: 'output' })
})

test('are families whose paths are told apart', () => {
  const prefixes = [...new Set(ENDPOINTS.map(({ group }) => group))].flatMap(({ pathPrefixes: own }) => own)
  for (const one of prefixes) {
    for (const other of prefixes) assert.not(other.startsWith(`${one}/`), `${other} lies below ${one}`)
  }
  assert.is(new Set(prefixes).size, prefixes.length)
})

test.run()
