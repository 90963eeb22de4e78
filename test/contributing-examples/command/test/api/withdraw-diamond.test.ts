import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { changesNothing, created, shown } from './harness/stones.ts'

const test = apiSuite('withdrawing a diamond')

const SHOWN = { sku: 'W-1', access: 2 }

test('is an event of its own, after which the diamond is closed to others', async ({ ann, service }) => {
  const { id } = await created(ann, SHOWN)
  expect(200, await ann.patch(`/v3/diamond/${id}`, { isPublished: true }))
  const answer = expect(204, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }))
  assert.is(answer.text, '')
  const events = await service.installation.store.read(`diamond-${id}`)
  const last = events.at(-1)
  assert.equal([events.length, last?.type, last?.data], [3, 'DiamondWithdrawn', { reason: 'sold' }])
  const read = expect(200, await ann.get(`/v4/diamond/${id}`))
  assert.is(shown(read)['access'], 0)
  assert.is(read.headers.etag, '"2.0"')
  assert.is(shown(await ann.get(`/v3/diamond/${id}`))['isPublished'], false)
  expect(404, await service.send({ path: `/diamond/${id}` }))
})

test('stands in the history, and in the feed as a change of fields', async ({ ann }) => {
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

test('is one event, however often it is asked for', async ({ ann, service }) => {
  const { id } = await created(ann, SHOWN)
  for (const reason of ['sold', 'lost']) expect(204, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason }))
  assert.is((await service.installation.store.read(`diamond-${id}`)).length, 2)
})

test('is refused for another account and for an unknown diamond', async ({ ann, bob }) => {
  const { id } = await created(ann, SHOWN)
  await changesNothing([ann], async () => {
    refusal(403, await bob.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }))
  })
  refusal(404, await ann.post('/v4/diamond/999999999/withdrawal', { reason: 'sold' }))
})

test('is refused where the diamond has changed since, and without a reason', async ({ ann }) => {
  const { id } = await created(ann, SHOWN)
  await changesNothing([ann], async () => {
    refusal(412, await ann.post(`/v4/diamond/${id}/withdrawal`, { reason: 'sold' }, { 'If-Match': '"7.0"' }))
    for (const body of [{}, { reason: 'tired of it' }]) {
      assert.equal(pointers(refusal(422, await ann.post(`/v4/diamond/${id}/withdrawal`, body))), ['/reason'])
    }
  })
})

test.run()
