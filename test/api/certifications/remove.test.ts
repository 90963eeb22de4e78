import * as assert from 'uvu/assert'
import { attached, pathOf, smallPdf } from '../harness/form.ts'
import { expect, refusal } from '../harness/request.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'
import { isStored } from '../harness/stored-files.ts'
import { until } from '../../until.ts'

const test = apiSuite('removing a certification')

const untilCollected = (service: Service, pdf: Buffer) =>
  until('the deletion of a file', async () => !(await isStored(service, pdf)))

test('removes it from the diamond, and returns 404 the second time', async ({ ann }) => {
  const { id } = await created(ann)
  const { id: certification } = await attached(ann, id)
  const response = expect(204, await ann.remove(`/v4/certification/${certification}`))
  assert.is(response.text, '')
  assert.equal(shown(await ann.get(`/v4/diamond/${id}`))['certifications'], [])
  refusal(404, await ann.remove(`/v4/certification/${certification}`))
})

test('is allowed only to its owner', async ({ ann, bob, service }) => {
  const { id } = await created(ann)
  const { id: certification, file } = await attached(ann, id)
  refusal(403, await bob.remove(`/v4/certification/${certification}`))
  refusal(401, await service.send({ method: 'DELETE', path: `/v4/certification/${certification}` }))
  expect(200, await service.send({ path: pathOf(file) }))
})

test('returns 404 for an unknown id', async ({ ann }) => {
  for (const id of ['9999999', '0', '-1', 'x', '1.5', '99999999999999999999', '%00']) {
    refusal(404, await ann.remove(`/v4/certification/${id}`))
  }
})

test('is the only method of its resource', async ({ ann }) => {
  const { id } = await created(ann)
  const { id: certification } = await attached(ann, id)
  for (const method of ['GET', 'PUT', 'PATCH', 'POST']) {
    const response = await ann.send({ method, path: `/v4/certification/${certification}` })
    refusal(405, response)
    assert.is(response.headers.allow, 'DELETE, OPTIONS')
  }
  assert.is((await ann.get('/v4/certification')).headers.allow, 'POST, OPTIONS')
})

test('keeps a file that another certification uses, of any owner', async ({ ann, bob, service }) => {
  const [mine, theirs] = [await created(ann), await created(bob)]
  const [shared, alone] = [smallPdf(), smallPdf()]
  const one = await attached(ann, mine.id, shared)
  const two = await attached(bob, theirs.id, shared)
  expect(204, await ann.remove(`/v4/certification/${one.id}`))
  const other = await attached(ann, mine.id, alone)
  expect(204, await ann.remove(`/v4/certification/${other.id}`))
  await untilCollected(service, alone)
  expect(200, await service.send({ path: pathOf(two.file) }))
  expect(204, await bob.remove(`/v4/certification/${two.id}`))
  await untilCollected(service, shared)
})

test('is part of deleting a diamond, which also deletes the files', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdfs = [smallPdf(), smallPdf(), smallPdf()]
  const certifications = await Promise.all(pdfs.map((pdf) => attached(ann, id, pdf)))
  for (const pdf of pdfs) assert.ok(await isStored(service, pdf))
  expect(204, await ann.remove('/v4/diamond/bulk', { entries: [{ id }] }))
  await Promise.all(pdfs.map((pdf) => untilCollected(service, pdf)))
  for (const { id: certification } of certifications)
    refusal(404, await ann.remove(`/v4/certification/${certification}`))
})

test.run()
