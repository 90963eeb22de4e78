import * as assert from 'uvu/assert'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import type { Vendor } from '../harness/account.ts'
import { certification, file, formBody, formHeaders, smallPdf, text, type Part } from '../harness/form.ts'
import { expect, refusal, type ApiResponse } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'

const time = { now: Date.UTC(2026, 0, 2) }
const HOUR = 3_600_000

/** Whether the store currently rejects records of requests. */
const records = { refused: false }

const withoutRecords = (store: EventStore): EventStore => ({
  ...store,
  async append(stream, expected, events) {
    if (records.refused && stream.startsWith('request-')) throw new StoreUnavailable('the process dies here')
    return store.append(stream, expected, events)
  },
})

const test = apiSuite('a certification with an Idempotency-Key', { clock: () => time.now, store: withoutRecords })

const PATH = '/v4/certification'
const keyed = (vendor: Vendor, key: string, parts: readonly Part[], headers = {}) =>
  vendor.send({
    method: 'POST',
    path: PATH,
    headers: { ...formHeaders, 'Idempotency-Key': key, ...headers },
    body: formBody(parts),
  })

/** One file for all tests, because each call returns different bytes. */
const PDF = smallPdf()

const report = (product: number, pdf = PDF) => [text('product', product), text('laboratory', 'GIA'), file(pdf)]

const attachedTo = async (vendor: Vendor, id: number) =>
  (shown(await vendor.get(`/v4/diamond/${id}`))['certifications'] as readonly { readonly id: number }[]).map(
    (one) => one.id,
  )

const idOf = (response: ApiResponse) => certification(expect(201, response)).id

test('is attached once and returns the first response again, whatever the encoding of its body', async ({ ann }) => {
  const { id } = await created(ann)
  const first = await keyed(ann, 'k-1', report(id))
  const again = await keyed(ann, 'k-1', report(id).toReversed())
  assert.is(idOf(again), idOf(first))
  assert.is(again.headers.location, first.headers.location)
  assert.is(again.headers['location'], `${new URL(String(certification(again).file)).origin}${PATH}/${idOf(first)}`)
  assert.equal(await attachedTo(ann, id), [idOf(first)])
  const json = { product: id, laboratory: 'HRD', number: '7' }
  const byJson = idOf(await ann.post(PATH, json, { 'Idempotency-Key': 'k-2' }))
  assert.is(
    idOf(await keyed(ann, 'k-2', [text('product', id), text('laboratory', 'HRD'), text('number', ' 7')])),
    byJson,
  )
  assert.equal(await attachedTo(ann, id), [idOf(first), byJson])
})

test('is rejected with 422 for another body under the same key, and attaches nothing', async ({ ann }) => {
  const [a, b] = [await created(ann), await created(ann)]
  const first = idOf(await keyed(ann, 'k-other', report(a.id)))
  const other = Buffer.concat([PDF, Buffer.from('\n')])
  for (const parts of [
    report(b.id),
    report(a.id, other),
    [...report(a.id), text('number', '1')],
    report(a.id).slice(0, 2),
  ]) {
    refusal(422, await keyed(ann, 'k-other', parts))
  }
  assert.equal([await attachedTo(ann, a.id), await attachedTo(ann, b.id)], [[first], []])
})

test('returns the first response again after it was removed, and after its diamond was deleted', async ({ ann }) => {
  const { id } = await created(ann)
  const first = idOf(await keyed(ann, 'k-later', report(id)))
  expect(204, await ann.remove(`${PATH}/${first}`))
  assert.is(idOf(await keyed(ann, 'k-later', report(id))), first)
  assert.equal(await attachedTo(ann, id), [])
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  assert.is(idOf(await keyed(ann, 'k-later', report(id))), first)
})

test('is attached once by concurrent requests', async ({ ann }) => {
  const { id } = await created(ann)
  const responses = await Promise.all(Array.from({ length: 12 }, () => keyed(ann, 'k-many', report(id))))
  assert.is(new Set(responses.map(idOf)).size, 1)
  assert.is((await attachedTo(ann, id)).length, 1)
})

test('does not use up its key if it is rejected', async ({ ann, bob }) => {
  const [mine, theirs] = [await created(ann), await created(bob)]
  refusal(422, await keyed(ann, 'k-refused', [text('product', mine.id), text('laboratory', 'EGL')]))
  refusal(403, await keyed(ann, 'k-refused', report(theirs.id)))
  refusal(404, await keyed(ann, 'k-refused', report(99_999_999)))
  refusal(415, await keyed(ann, 'k-refused', report(mine.id, Buffer.from('no PDF'))))
  expect(201, await keyed(ann, 'k-refused', report(mine.id)))
})

test('is scoped to its account and recognised for a day', async ({ ann, bob }) => {
  const [mine, theirs] = [await created(ann), await created(bob)]
  const first = idOf(await keyed(ann, 'k-whose', report(mine.id)))
  assert.is.not(idOf(await keyed(bob, 'k-whose', report(theirs.id))), first)
  time.now += 23 * HOUR
  assert.is(idOf(await keyed(ann, 'k-whose', report(mine.id))), first)
  time.now += 2 * HOUR
  assert.is.not(idOf(await keyed(ann, 'k-whose', report(mine.id))), first)
  assert.is((await attachedTo(ann, mine.id)).length, 2)
})

test('is attached once if the process crashes before it records the request', async ({ ann }) => {
  const { id } = await created(ann)
  records.refused = true
  expect(503, await keyed(ann, 'k-died', report(id)))
  expect(503, await keyed(ann, 'k-died', report(id)))
  records.refused = false
  const first = idOf(await keyed(ann, 'k-died', report(id)))
  assert.equal(await attachedTo(ann, id), [first])
  assert.is(idOf(await keyed(ann, 'k-died', report(id))), first)
})

for (const key of ['', 'x'.repeat(256), 'é']) {
  test(`that is ${key.slice(0, 3) || 'empty'} is rejected with 400`, async ({ ann }) => {
    const { id } = await created(ann)
    refusal(400, await keyed(ann, key, report(id)))
    assert.equal(await attachedTo(ann, id), [])
  })
}

test.run()
