import * as assert from 'uvu/assert'
import { withDiamonds } from './harness/diamonds-with.ts'
import { expect, refusal } from './harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created, shown } from './harness/stones.ts'

const test = apiSuite('getting a diamond')

test('returns the same body as its creation, with its ETag', async ({ ann }) => {
  const stone = await created(ann, { clarity: 'IF', access: 2 })
  const response = expect(200, await ann.get(`/v4/diamond/${stone.id}`))
  assert.equal(response.json(), stone)
  assert.is(response.headers.etag, '"0.0"')
  assert.is(response.headers['content-type'], 'application/json; charset=utf-8')
})

for (const id of [
  '0',
  '-1',
  '1.5',
  '007',
  'abc',
  '9007199254740993',
  '99999999999999999999',
  '1e3',
  '%31%20',
  'null',
]) {
  test(`returns 404 for the id ${id}`, async ({ ann }) => {
    refusal(404, await ann.get(`/v4/diamond/${id}`))
    refusal(404, await ann.get(`/v3/diamond/${id}`))
    refusal(404, await ann.patch(`/v4/diamond/${id}`, { price: 1 }))
    refusal(404, await ann.remove(`/v4/diamond/${id}`))
  })
}

test('returns 404 for the largest possible id', async ({ ann }) => {
  refusal(404, await ann.get('/v4/diamond/9007199254740991'))
})

test('accepts a percent-encoded id', async ({ ann }) => {
  const { id } = await created(ann)
  const encoded = [...String(id)].map((digit) => `%3${digit}`).join('')
  assert.is(shown(expect(200, await ann.get(`/v4/diamond/${encoded}`))).id, id)
})

test('returns 304 without a body if If-None-Match has both current revisions', async ({ ann }) => {
  const { id } = await created(ann)
  for (const tag of ['"0.0"', 'W/"0.0"', '*', '"9.9", "0.0"', '"a,b","0.0"']) {
    const response = expect(304, await ann.get(`/v4/diamond/${id}`, { 'If-None-Match': tag }))
    assert.is(response.text, '')
    assert.is(response.headers.etag, '"0.0"')
  }
})

test('returns 200 if either revision differs', async ({ ann }) => {
  const { id } = await created(ann)
  for (const tag of ['"0.1"', '"1.0"', '"0"', '0.0', '', '"0.0']) {
    expect(200, await ann.get(`/v4/diamond/${id}`, { 'If-None-Match': tag }))
  }
  await ann.patch(`/v4/diamond/${id}`, { price: 9 })
  expect(200, await ann.get(`/v4/diamond/${id}`, { 'If-None-Match': '"0.0"' }))
  expect(304, await ann.get(`/v4/diamond/${id}`, { 'If-None-Match': '"1.0"' }))
})

test('returns the same ETag in v3 and v4', async ({ ann }) => {
  const { id } = await created(ann)
  await ann.patch(`/v4/diamond/${id}`, { price: 9 })
  assert.is((await ann.get(`/v3/diamond/${id}`)).headers.etag, (await ann.get(`/v4/diamond/${id}`)).headers.etag)
})

test('by HEAD returns the headers of GET and no body', async ({ ann }) => {
  const { id } = await created(ann)
  const got = await ann.get(`/v4/diamond/${id}`)
  const head = expect(200, await ann.send({ method: 'HEAD', path: `/v4/diamond/${id}` }))
  assert.is(head.text, '')
  for (const name of ['etag', 'content-type', 'content-length']) assert.is(head.headers[name], got.headers[name], name)
})

/** Read models with a count of the queries of diamonds. */
function countedReads() {
  const queries = { get: 0, count: 0 }
  const counted = withDiamonds((model) => ({
    get: (id, select) => (queries.get++, model.get(id, select)),
    count: (where, bounded) => (queries.count++, model.count(where, bounded)),
  }))
  return { queries, counted }
}

test('queries the read store once for each request', async () => {
  const { queries, counted } = countedReads()
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, reads: counted })
  try {
    const { id } = await created(service.ann)
    // While the projection lags, the service reads the log instead of the store.
    while (queries.get === 0) await service.ann.get(`/v4/diamond/${id}`)
    queries.get = queries.count = 0
    for (let request = 0; request < 3; request++) {
      assert.is((await service.ann.get(`/v4/diamond/${id}`)).status, 200)
      assert.is((await service.ann.get('/v4/diamond')).status, 200)
    }
    assert.equal(queries, { get: 3, count: 3 })
  } finally {
    await service.stop()
  }
})

test.run()
