import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import type { VersionedSchema } from '../../src/http/kit/endpoint.ts'
import { apiSuite } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = apiSuite('a query parameter')

const namesIn = (query: VersionedSchema): string[] => {
  const schema = query instanceof z.ZodType ? query : query.v4
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** Likely misspellings: upper case, an additional s, the last letter missing. */
const mistyped = (name: string) => [
  name.toUpperCase(),
  ...(name.length > 4 && !name.includes('[') ? [`${name}s`, name.slice(0, -1)] : []),
]

for (const { operationId, paths, pathParameters, query } of ENDPOINTS) {
  if (query === undefined) continue
  test(`that resembles one of ${operationId} is rejected with 400 and a suggestion`, async ({ ann }) => {
    const stone = await created(ann)
    const path = Object.entries(pathParameters).reduce(
      (made, [parameter, schema]) =>
        made.replace(`{${parameter}}`, String(schema instanceof z.ZodEnum ? schema.options.at(-1) : stone.id)),
      String(paths[0]),
    )
    for (const known of namesIn(query)) {
      for (const wrong of mistyped(known)) {
        const response = await ann.get(`${path}?${encodeURIComponent(wrong)}=1`)
        assert.is(response.status, 400, `${path}?${wrong}: ${response.status} ${response.text.slice(0, 200)}`)
        assert.ok(
          response.text.includes(known),
          `no suggestion of ${known} for ${wrong}: ${response.text.slice(0, 300)}`,
        )
      }
    }
  })
}

test.run()
