import * as assert from 'uvu/assert'
import { importsOf } from '../../../src/commands/imports/stock-imports.ts'
import { attached, smallPdf } from '../harness/form.ts'
import { applied, settled, shownImport, undone, uploaded, uploadRequest } from '../harness/imports.ts'
import { expect, refusal } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { isStored } from '../harness/stored-files.ts'
import { created, current, list, shown } from '../harness/stones.ts'
import type { Vendor } from '../harness/account.ts'
import { until } from '../../until.ts'

const HOUR_MS = 3_600_000
const time = { offset: 0 }
const test = apiSuite('an import that is applied', { clock: () => Date.now() + time.offset })

const HEADER = 'sku,Shape,Carat,Price,Lab,Cert No\n'
const row = (index: number, price = 1_000) =>
  `S-${index},Round,1.2,${price},GIA,62019${String(index).padStart(5, '0')}\n`
const rows = (count: number, price?: number) =>
  HEADER + Array.from({ length: count }, (_, index) => row(index, price)).join('')

const countOf = async (vendor: Vendor) =>
  Number((await current(vendor, '/v4/diamond?limit=1')).headers['x-total-count'])
const pricesOf = async (vendor: Vendor) =>
  list(await current(vendor, '/v4/diamond?limit=100')).map(({ sku, price }) => [sku, price])

test('writes its stones with their certifications, once, its file is deleted, and an undo restores all', async ({
  service,
}) => {
  const ann = await service.newVendor()
  const many = 600
  const { id } = await uploaded(ann, rows(many))
  const started = expect(202, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` })).json() as object
  assert.equal([Reflect.get(started, 'state'), Reflect.get(started, 'total')], ['applying', many])
  expect(409, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  const { state, counts, done, total, undo } = await settled(ann, id)
  assert.equal([state, done, total], ['applied', null, many])
  assert.equal(counts, { created: many, changed: 0, unchanged: 0, deleted: 0, certifications: many })
  assert.is(undo, `${service.url}/v4/import/${id}/undo`)
  assert.is(await countOf(ann), many)
  const [first] = list(await ann.get('/v4/diamond?f[sku][]=S-7'))
  assert.equal(
    ((first?.['certifications'] ?? []) as { number: string }[]).map(({ number }) => number),
    ['6201900007'],
  )
  await until('the deletion of the file', async () => !(await isStored(service, Buffer.from(rows(many)))))
  assert.is((await shownImport(ann, id)).file.rows, many)

  const { restored, left, ...end } = await undone(ann, id)
  assert.equal([end.state, restored, left, end.undo], ['undone', many, 0, null])
  assert.is(await countOf(ann), 0)
  refusal(409, await ann.send({ method: 'POST', path: `/v4/import/${id}/undo` }))
})

test('shows in the history of its stones by whom and how it was done', async ({ service }) => {
  const ann = await service.newVendor()
  const { id } = await uploaded(ann, rows(1))
  await applied(ann, id)
  const [stone] = list(await current(ann, '/v4/diamond'))
  const [creation] = expect(200, await ann.get(`/v4/diamond/${stone?.id}/history`)).json() as {
    by: { via: string; client: string }
  }[]
  assert.equal([creation?.by.via, creation?.by.client], ['http', 'tests'])
})

test('creates nothing again from the same file, unless it was undone', async ({ service }) => {
  const ann = await service.newVendor()
  const first = await uploaded(ann, rows(3))
  await applied(ann, first.id)
  const again = await uploaded(ann, rows(3))
  assert.equal([again.would.created, again.would.unchanged], [0, 3])
  assert.match(again.remarks.join('\n'), /already imported from this file.*: 3/)
  const { state, counts, undo } = await applied(ann, again.id)
  assert.equal([state, counts?.created, counts?.unchanged, undo], ['applied', 0, 3, null])
  assert.is(await countOf(ann), 3)
  await undone(ann, first.id)
  assert.is((await uploaded(ann, rows(3))).would.created, 3)
})

test('by sku makes the inventory what the file says, and an undo makes it what it was', async ({ service }) => {
  const ann = await service.newVendor()
  const kept = await created(ann, { sku: 'S-0', price: 1_000 })
  await created(ann, { sku: 'old', price: 5 })
  const before = await pricesOf(ann)
  const content = 'sku,Shape,Carat,Price\nS-0,Round,0.73,1000\nold,Round,0.73,6\nnew,Oval,1,7\n'
  const { id, would } = await uploaded(ann, content, { by: 'sku' })
  assert.equal(would, { created: 1, changed: 1, unchanged: 1, deleted: 0, certifications: 0 })
  const { counts } = await applied(ann, id)
  assert.equal(counts, would)
  assert.equal((await pricesOf(ann)).toSorted(), [
    ['S-0', 1000],
    ['new', 7],
    ['old', 6],
  ])
  assert.is(shown(await ann.get(`/v4/diamond/${kept.id}`))['price'], 1000)
  await undone(ann, id)
  assert.equal(await pricesOf(ann), before)
})

test('deletes what the file lacks only with deleteMissing, and never everything', async ({ service }) => {
  const ann = await service.newVendor()
  await created(ann, { sku: 'S-0', price: 1_000 })
  const gone = await created(ann, { sku: 'gone' })
  await attached(ann, gone.id, smallPdf())
  const content = 'sku,price\nS-0,1000\n'
  assert.is((await uploaded(ann, content, { by: 'sku' })).would.deleted, 0)
  const options = { by: 'sku', deleteMissing: 'on' }
  const { id, would, remarks } = await uploaded(ann, content, options)
  assert.equal([would.deleted, would.unchanged], [1, 1])
  assert.match(remarks.join('\n'), /a PDF of a report or a 3D model, which an undo cannot restore: 1/)
  const { counts } = await applied(ann, id)
  assert.equal([counts?.deleted, counts?.unchanged], [1, 1])
  expect(404, await ann.get(`/v4/diamond/${gone.id}`))
  const nothing = refusal(422, await ann.send(uploadRequest(ann, 'sku,price\n', options)))
  assert.match(nothing.error[0] ?? '', /does not delete the whole inventory/)
  assert.is(await countOf(ann), 1)
})

test('is not undone over later changes, unless they are skipped', async ({ service }) => {
  const ann = await service.newVendor()
  const { id } = await uploaded(ann, rows(3))
  await applied(ann, id)
  const changed = list(await current(ann, '/v4/diamond')).find(({ sku }) => sku === 'S-1')
  expect(200, await ann.patch(`/v4/diamond/${changed?.id}`, { price: 9 }))
  const refused = await undone(ann, id)
  assert.equal(
    [refused.state, refused.why],
    ['applied', 'Nothing was undone, since stones were changed after the import (1): S-1'],
  )
  assert.is(await countOf(ann), 3)
  const { state, restored, left } = await undone(ann, id, { skipChanged: true })
  assert.equal([state, restored, left], ['undone', 2, 1])
  assert.equal(await pricesOf(ann), [['S-1', 9]])
})

test('leaves out lines with errors with skipBad', async ({ service }) => {
  const ann = await service.newVendor()
  const { id, state } = await uploaded(ann, `${rows(2)}bad,Round,heavy,,,\n`)
  assert.is(state, 'invalid')
  const { error } = refusal(409, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  assert.match(error[0] ?? '', /set skipBad to leave them out/)
  expect(200, await ann.patch(`/v4/import/${id}`, { skipBad: true }))
  const { counts, errors } = await applied(ann, id)
  assert.equal([counts?.created, errors.length], [2, 1])
})

test('waits for no other account, but one of the same account waits', async ({ service }) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const [large, small] = [await uploaded(ann, rows(20)), await uploaded(ann, rows(1))]
  const ofBob = await uploaded(bob, rows(1))
  expect(202, await ann.send({ method: 'POST', path: `/v4/import/${large.id}/apply` }))
  const { error } = refusal(409, await ann.send({ method: 'POST', path: `/v4/import/${small.id}/apply` }))
  assert.match(error[0] ?? '', new RegExp(`Another import of the account is at work: ${large.id}`))
  assert.is((await applied(bob, ofBob.id)).state, 'applied')
  assert.is((await settled(ann, large.id)).state, 'applied')
  assert.is((await applied(ann, small.id)).state, 'applied')
})

test('cannot be deleted or changed meanwhile; afterwards what it wrote stays', async ({ service }) => {
  const ann = await service.newVendor()
  const { id } = await uploaded(ann, rows(20))
  expect(202, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  expect(409, await ann.remove(`/v4/import/${id}`))
  expect(409, await ann.patch(`/v4/import/${id}`, { skipBad: true }))
  await settled(ann, id)
  expect(204, await ann.remove(`/v4/import/${id}`))
  expect(404, await ann.get(`/v4/import/${id}`))
  assert.is(await countOf(ann), 20)
})

test('creates a stone again that is deleted while it is at work', async ({ service }) => {
  const ann = await service.newVendor()
  const first = await uploaded(ann, rows(60))
  await applied(ann, first.id)
  const { id } = await uploaded(ann, rows(60, 2_000), { by: 'sku' })
  const doomed = list(await current(ann, '/v4/diamond?limit=10&sort=date'))
  expect(202, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  for (const stone of doomed) await ann.remove(`/v4/diamond/${stone.id}`)
  const { state, counts, why } = await settled(ann, id)
  assert.equal([state, why], ['applied', null])
  assert.is((counts?.created ?? 0) + (counts?.changed ?? 0) + (counts?.unchanged ?? 0), 60)
})

test('expires after a day if it is not, and is listed for 30 days', async ({ service }) => {
  const ann = await service.newVendor()
  const content = rows(2, 77)
  const [waiting, used] = [await uploaded(ann, content), await uploaded(ann, rows(1, 78))]
  await applied(ann, used.id)
  try {
    time.offset = 25 * HOUR_MS
    await until('the end of a day', async () => (await shownImport(ann, waiting.id)).state === 'failed')
    assert.match((await shownImport(ann, waiting.id)).why ?? '', /not applied within 24 hours/)
    await until('the deletion of the file', async () => !(await isStored(service, Buffer.from(content))))
    time.offset = 31 * 24 * HOUR_MS
    // The token of the vendor has expired.
    const { context } = service.installation
    await until('the end of the list', async () => (await importsOf(context, ann.account)).length === 0)
  } finally {
    time.offset = 0
  }
})

test.run()
