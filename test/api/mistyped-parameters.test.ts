import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import type { Endpoint, VersionedSchema } from '../../src/http/kit/endpoint.ts'
import { refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { newOwner } from './inventory-page/browser.ts'

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

/** The path of an endpoint for an existing diamond. */
const pathTo = ({ paths, pathParameters }: Pick<Endpoint, 'paths' | 'pathParameters'>, id: number) =>
  Object.entries(pathParameters).reduce(
    (made, [parameter, schema]) =>
      made.replace(`{${parameter}}`, String(schema instanceof z.ZodEnum ? schema.options.at(-1) : id)),
    String(paths[0]),
  )

for (const { operationId, query, ...endpoint } of ENDPOINTS) {
  if (query === undefined) continue
  test(`that resembles one of ${operationId} is rejected with 400 and a suggestion`, async ({ ann, service }) => {
    const path = pathTo(endpoint, (await created(ann)).id)
    const get = endpoint.auth.scheme === 'cookie' ? (await newOwner(service)).openPage : ann.get
    for (const known of namesIn(query)) {
      for (const wrong of mistyped(known)) {
        const response = await get(`${path}?${encodeURIComponent(wrong)}=1`)
        assert.is(response.status, 400, `${path}?${wrong}: ${response.status} ${response.text.slice(0, 200)}`)
        assert.ok(
          response.text.includes(known),
          `no suggestion of ${known} for ${wrong}: ${response.text.slice(0, 300)}`,
        )
      }
    }
  })
}

/** People open links, and others append parameters to them. */
const isSignedLink = (query: VersionedSchema) => namesIn(query).includes('signature')

/** What lists of other APIs are filtered and paginated by, and the name to use instead. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  sku: 'f[sku][]',
  color: 'f[color][]',
  dateFrom: 'f[dateFrom]',
  page: 'offset or after',
  per_page: 'limit',
  cursor: 'after',
}

test('that a list does not know is rejected with 400 and names the nearest one', async ({ ann }) => {
  await created(ann)
  for (const [name, suggestion] of Object.entries(FOREIGN_NAMES)) {
    assert.equal(refusal(400, await ann.get(`/v4/diamond?${name}=1`)).details, [
      { pointer: name, message: `Unknown parameter ${name}; did you mean ${suggestion}?`, code: 'unknown_parameter' },
    ])
  }
})

test('in brackets that a list does not know is rejected with 422 and names the nearest filter, or all', async ({
  ann,
}) => {
  await created(ann)
  const messageFor = async (name: string) => refusal(422, await ann.get(`/v4/diamond?${name}=1`)).error?.[0]
  assert.is(await messageFor('f[colour][]'), 'Unknown filter f[colour][]; did you mean f[color][]?')
  assert.match((await messageFor('f[form][]')) ?? '', /^Unknown filter f\[form\]\[\]; allowed: .*f\[cutShape\]\[\]/)
})

for (const endpoint of ENDPOINTS.filter(
  ({ group, methods, query = z.object({}) }) =>
    group.refusesUnknownParameters && methods.includes('GET') && !isSignedLink(query),
)) {
  test(`that ${endpoint.operationId} does not know is rejected with 400, one of a cache or analytics is ignored`, async ({
    ann,
  }) => {
    const { id } = await created(ann)
    const path = pathTo(endpoint, id)
    const { status } = await ann.get(path)
    assert.is((await ann.get(`${path}?_=1&utm_source=x`)).status, status)
    const { details = [] } = refusal(400, await ann.get(`${path}?nothing=1`))
    assert.ok(details.some(({ pointer, code }) => pointer === 'nothing' && code === 'unknown_parameter'))
  })
}

test.run()
