import * as assert from 'uvu/assert'
import type { ReadStore } from '../../src/stores/ports/read-store.ts'
import type { Vendor } from './harness/account.ts'
import type { Answer } from './harness/request.ts'
import { apiSuite, startService } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = apiSuite('a read answered without the framework')

/** A scheme that is not written as usual is left to the framework's routes. */
async function bothWays(vendor: Vendor, path: string, headers: Record<string, string> = {}): Promise<[Answer, Answer]> {
  return [
    await vendor.get(path, headers),
    await vendor.get(path, { ...headers, Authorization: routed(vendor, headers) }),
  ]
}

const routed = ({ token }: Vendor, headers: Readonly<Record<string, string>>) =>
  (headers['Authorization'] ?? `Bearer ${token}`).replace(/^Bearer/, 'bearer')

/** What may differ between two answers to the same question. */
function comparable({ status, headers, text }: Answer) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, headers: Object.entries(rest).toSorted(), text: text.replaceAll(/"requestId":"[^"]*"/g, '') }
}

const paths = (id: number) => [
  `/v4/diamond/${id}`,
  `/v3/diamond/${id}`,
  '/v4/diamond/999999999',
  '/v4/diamond/abc',
  '/v4/diamond',
  '/v3/diamond?limit=1&offset=1&f[isColored]=0',
  '/v4/diamond?f[sku][]=nobody%20has%20this',
  '/v4/diamond?f%5Bid%5D%5B%5D=1&f[id][]=x',
  '/v4/diamond?limit=0',
  '/v4/diamond?offset=99999&limit=3&x=%3Cscript%3E&y=a"b',
  '/v4/diamond/',
  '/v4/diamond?',
]

test('is the answer of the routes, whatever is asked', async ({ ann }) => {
  const { id } = await created(ann)
  await created(ann, { access: 2 })
  for (const path of paths(id)) {
    const [direct, routed] = await bothWays(ann, path)
    assert.equal(comparable(direct), comparable(routed), path)
  }
})

test('is 304 where that of the routes is', async ({ ann }) => {
  const { id } = await created(ann)
  for (const tag of ['"0.0"', 'W/"0.0"', '"7.7"']) {
    const [direct, routed] = await bothWays(ann, `/v4/diamond/${id}`, { 'If-None-Match': tag })
    assert.equal(comparable(direct), comparable(routed), tag)
  }
})

test('is refused as by the routes to who may not read', async ({ ann, bob }) => {
  const { id } = await created(ann)
  for (const token of ['Bearer forged', `bearer ${ann.token}`, 'Basic eDp5', '']) {
    const [direct, routed] = await bothWays(ann, `/v4/diamond/${id}`, { Authorization: token })
    assert.equal(comparable(direct), comparable(routed), token)
  }
  const [direct, routed] = await bothWays(bob, `/v4/diamond/${id}`)
  assert.is(direct.status, 403)
  assert.equal(comparable(direct), comparable(routed))
})

/** Read models that answer by promises, as those of a server on another machine do, and how often they were asked. */
function answeringLater() {
  const asked = { get: 0, count: 0 }
  const later = (reads: ReadStore): ReadStore => ({
    ...reads,
    async model(declaration) {
      const model = await reads.model(declaration)
      return {
        find: async (query) => model.find(query),
        position: async () => model.position(),
        parked: async () => model.parked(),
        get: async (id, select) => (asked.get++, model.get(id, select)),
        count: async (where) => (asked.count++, model.count(where)),
      }
    },
  })
  return { asked, later }
}

test('asks a store that answers later once for each request', async () => {
  const { asked, later } = answeringLater()
  const service = await startService({ reads: later })
  try {
    const { id } = await created(service.ann)
    // While the projection is behind, the log is asked instead, and nobody has found out yet how the store answers.
    while (asked.get === 0) await service.ann.get(`/v4/diamond/${id}`)
    asked.get = asked.count = 0
    for (let request = 0; request < 3; request++) {
      assert.is((await service.ann.get(`/v4/diamond/${id}`)).status, 200)
      assert.is((await service.ann.get('/v4/diamond')).status, 200)
    }
    assert.equal(asked, { get: 3, count: 3 })
  } finally {
    await service.stop()
  }
})

test.run()
