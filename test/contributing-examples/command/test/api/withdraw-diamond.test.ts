import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, shown } from './harness/stones.ts'

const test = apiSuite('the withdrawal of a diamond')

const SHOWN = { sku: 'W-1', access: 2 }

test('is recorded as an event, and makes the diamond private', async ({ ann, service }) => {
  const { id } = await created(ann, SHOWN)
  expect(200, await ann.patch(`/v3/diamond/${id}`, { isPublished: true }))
  const response = expect(204, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }))
  assert.is(response.text, '')
  const events = await service.installation.store.readStream(`diamond-${id}`)
  const last = events.at(-1)
  assert.equal([events.length, last?.type, last?.data], [3, 'DiamondWithdrawn', { reason: 'sold' }])
  const read = expect(200, await ann.get(`/v4/diamond/${id}`))
  assert.is(shown(read)['access'], 0)
  assert.is(read.headers.etag, '"2.0"')
  assert.is(shown(await ann.get(`/v3/diamond/${id}`))['isPublished'], false)
  expect(404, await service.send({ path: `/diamond/${id}` }))
})

test('appears in the history, and in the change feed as a change of fields', async ({ ann }) => {
  const { id } = await created(ann, SHOWN)
  const { next } = (await ann.get('/v4/diamond/changes?after=now')).json() as { next: string }
  expect(204, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason: 'lost' }))
  const history = (await ann.get(`/v4/diamond/${id}/history`)).json() as { type: string; changes: unknown }[]
  assert.is(history.at(-1)?.type, 'withdrawn')
  assert.equal(history.at(-1)?.changes, [{ field: 'access', from: 2, to: 0 }])
  const feed = (await ann.get(`/v4/diamond/changes?after=${next}`)).json() as {
    changes: { id: number; what: string[] }[]
  }
  assert.equal(
    feed.changes.map((change) => [change.id, change.what]),
    [[id, ['fields']]],
  )
})

test('is recorded once, even if it is requested again', async ({ ann, service }) => {
  const { id } = await created(ann, SHOWN)
  for (const reason of ['sold', 'lost']) expect(204, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason }))
  assert.is((await service.installation.store.readStream(`diamond-${id}`)).length, 2)
})

test('is refused for another account and for an unknown diamond', async ({ ann, bob }) => {
  const { id } = await created(ann, SHOWN)
  await expectNoChange([ann], async () => {
    refusal(403, await bob.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }))
  })
  refusal(404, await ann.post('/v4/diamond/999999999/withdrawal', { reason: 'sold' }))
})

test('is refused if the diamond has changed or the reason is missing', async ({ ann }) => {
  const { id } = await created(ann, SHOWN)
  await expectNoChange([ann], async () => {
    refusal(412, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }, { 'If-Match': '"7.0"' }))
    for (const body of [{}, { reason: 'unknown' }]) {
      assert.equal(pointers(refusal(422, await ann.post(`/v4/diamond/${id}/withdrawal`, body))), ['/reason'])
    }
  })
})

test.run()
