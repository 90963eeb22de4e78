import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rotateLinkKey } from '../../src/commands/installation/link-key.ts'
import type { Vendor } from './harness/account.ts'
import { attached, pathOf, type ShownCertification } from './harness/form.ts'
import { attachModel, model, modelFile } from './harness/models.ts'
import { expect, refusal } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Given } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { until } from '../until.ts'

type GivenWithClock = Given & { time: { ahead: number } }
const test = suite<GivenWithClock>('a signed link')

test.before.each(async (given) => {
  const [time, start] = [{ ahead: 0 }, Date.now()]
  given.time = time
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => start + time.ahead })
  given.ann = given.service.ann
})
test.after.each(({ service }) => service.stop())

const MINUTE = 60_000
const DAY = 86_400_000

type StoneWithLinks = {
  readonly certifications: readonly ShownCertification[]
  readonly _links: readonly { readonly href: string }[]
}

const read = async (ann: Vendor, id: number, headers = {}) => ann.get(`/v4/diamond/${id}`, headers)
const stoneIn = (response: { json(): unknown }) => response.json() as StoneWithLinks
const fileIn = (stone: StoneWithLinks) => pathOf(stone.certifications[0]?.file ?? null)
const pageIn = (stone: StoneWithLinks) => pathOf(stone._links[0]?.href ?? null)

test('to a file is valid for a day and returns 410 afterwards', async ({ ann, service, time }) => {
  const { id } = await created(ann)
  const path = pathOf((await attached(ann, id)).file)
  time.ahead = DAY - MINUTE
  expect(200, await service.send({ path }))
  time.ahead = DAY + 6 * MINUTE
  refusal(410, await service.send({ path }))
  refusal(410, await service.send({ path, headers: { Range: 'bytes=0-1' } }))
  expect(200, await service.send({ path: fileIn(stoneIn(await read(ann, id))) }))
})

test('to the 3D file of a diamond is valid for a day and returns 410 afterwards', async ({ ann, service, time }) => {
  const { id } = await created(ann)
  expect(201, await attachModel(ann, id, modelFile('Round', 'Good', 1)))
  const path = pathOf(model(expect(200, await ann.get(`/v4/diamond/${id}/model`))).file ?? null)
  time.ahead = DAY - MINUTE
  expect(200, await service.send({ path }))
  time.ahead = DAY + 6 * MINUTE
  refusal(410, await service.send({ path }))
})

test('to a file is revoked by any change of access to its diamond, and by no other change', async ({
  ann,
  service,
}) => {
  const { id } = await created(ann, { access: 2, dataAccess: 2 })
  let link = pathOf((await attached(ann, id)).file)
  for (const [change, isOpen] of [
    [{ price: 7, sku: 'other' }, true],
    [{ access: 2, dataAccess: 2 }, true],
    [{ dataAccess: 1 }, false],
    [{ access: 0 }, false],
    [{ access: null, dataAccess: null }, false],
  ] as const) {
    expect(200, await ann.patch(`/v4/diamond/${id}`, change))
    assert.is((await service.send({ path: link })).status, isOpen ? 200 : 404, JSON.stringify(change))
    link = fileIn(stoneIn(await read(ann, id)))
    expect(200, await service.send({ path: link }))
  }
})

test('from a public page is revoked when its diamond becomes restricted, also after it is public again', async ({
  ann,
  service,
}) => {
  const { id } = await created(ann, { access: 2, dataAccess: 2 })
  await attached(ann, id)
  const page = expect(200, await service.send({ path: `/diamond/${id}` })).text
  const path = pathOf(/"([^"]*\/file\?signature=[\w-]+)"/.exec(page)?.[1] ?? null)
  expect(200, await service.send({ path }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { access: 0 }))
  refusal(404, await service.send({ path }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { access: 2 }))
  refusal(404, await service.send({ path }))
})

test('to the page of a restricted diamond does not expire, and is revoked once others had access in between', async ({
  ann,
  service,
  time,
}) => {
  const { id } = await created(ann, { access: 0 })
  const link = pageIn(stoneIn(await read(ann, id)))
  time.ahead = 5 * DAY
  expect(200, await service.send({ path: link }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { dataAccess: 1 }))
  expect(200, await service.send({ path: link }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { access: 1 }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { access: 0 }))
  assert.is((await service.send({ path: link })).status, 404)
  expect(200, await service.send({ path: pageIn(stoneIn(await read(ann, id))) }))
})

test('is renewed instead of a 304 after it has expired', async ({ ann, service, time }) => {
  const [withFile, bare] = [await created(ann), await created(ann)]
  await attached(ann, withFile.id)
  const tags = new Map<number, string>()
  for (const { id } of [withFile, bare]) tags.set(id, String((await read(ann, id)).headers.etag))
  const again = (id: number, more = {}) => read(ann, id, { 'If-None-Match': tags.get(id), ...more })
  for (const { id } of [withFile, bare]) {
    for (const more of [{}, { 'X-Request-Id': 'by-the-framework' }]) expect(304, await again(id, more))
  }
  time.ahead = DAY + 6 * MINUTE
  for (const more of [{}, { 'X-Request-Id': 'by-the-framework' }]) {
    const fresh = expect(200, await again(withFile.id, more))
    assert.is(fresh.headers.etag, tags.get(withFile.id))
    expect(200, await service.send({ path: fileIn(stoneIn(fresh)) }))
    expect(304, await again(bare.id, more))
  }
})

test('is revoked at once when another process rotates the key', async ({ ann, service, time }) => {
  const [{ id }, restricted] = [await created(ann), await created(ann, { access: 0 })]
  const file = pathOf((await attached(ann, id)).file)
  const page = await read(ann, restricted.id)
  const { context, keys } = service.installation
  time.ahead = MINUTE
  await rotateLinkKey(context, keys, { actor: 'operator', via: 'cli', correlation: 'test' })
  await until('the end of the link', async () => (await service.send({ path: file })).status === 404)
  assert.is((await service.send({ path: pageIn(stoneIn(page)) })).status, 404)

  const fresh = expect(200, await read(ann, restricted.id, { 'If-None-Match': String(page.headers.etag) }))
  expect(200, await service.send({ path: pageIn(stoneIn(fresh)) }))
  expect(200, await service.send({ path: fileIn(stoneIn(await read(ann, id))) }))
})

test('signed by a clock that ran ahead is invalid once the clock is right again', async ({ ann, service, time }) => {
  const { id } = await created(ann)
  await attached(ann, id)
  time.ahead = 3 * DAY
  const path = fileIn(stoneIn(await read(ann, id)))
  expect(200, await service.send({ path }))
  time.ahead = 0
  refusal(410, await service.send({ path }))
  expect(200, await service.send({ path: fileIn(stoneIn(await read(ann, id))) }))
})

test('with a duplicate signature is rejected with 400', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 0 })
  const link = pageIn(stoneIn(await read(ann, id)))
  assert.is((await service.send({ path: `${link}&${link.split('?')[1]}` })).status, 400)
})

test.run()
