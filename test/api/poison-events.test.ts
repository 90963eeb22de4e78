import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect, refusal } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Given } from './harness/service.ts'
import { created, current, list, stone } from './harness/stones.ts'
import { appendTo } from '../projections/engine/poison-events.ts'
import { until } from '../until.ts'

/** A color that only a later release knows. */
const UNKNOWN_COLOR = 987_654

const test = suite<Given>('a diamond with a poison event')
test.before.each(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, scored: true })
  given.ann = given.service.ann
  given.bob = given.service.bob
})
test.after.each(({ service }) => service.stop())

/** Appends the creation of a stone of Ann's with the unknown color. */
async function createPoisonedStone({ service, ann }: Given): Promise<number> {
  const { store } = service.installation
  const [born] = await store.readStream(`diamond-${(await created(ann)).id}`)
  const id = 1_000_000
  const data = { ...born?.data, id, set: { sku: 'POISON', cutShape: 2, carat: 1, color: UNKNOWN_COLOR } }
  await appendTo(store, `diamond-${id}`, { type: 'DiamondCreated', data })
  return id
}

test('does not keep other diamonds from being listed, scored and changed', async (given) => {
  const { ann, service } = given
  await createPoisonedStone(given)
  const ids = list(expect(201, await ann.post('/v4/diamond/bulk', { entries: [stone(), stone(), stone()] })))
  const all = list(expect(200, await current(ann, '/v4/diamond')))
  assert.is(all.length, 4)
  for (const { id } of ids) {
    await until('its scores', async () => (await service.installation.store.readStream(`scores-${id}`)).length > 0)
    const response = expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 3 }))
    assert.is(response.headers['x-consistency'], undefined)
  }
  const metrics = (await service.send({ path: '/metrics' })).text
  assert.match(metrics, /^adamant_projection_parked_streams(\{.*\})? 1$/m)
  assert.match(metrics, /^adamant_scoring_parked_streams(\{.*\})? 1$/m)
})

test('is 503 for reads and changes, and nothing is written', async (given) => {
  const { ann, bob, service } = given
  const id = await createPoisonedStone(given)
  for (const version of ['v3', 'v4']) {
    for (const vendor of [ann, bob]) {
      refusal(503, await vendor.get(`/${version}/diamond/${id}`))
    }
    refusal(503, await ann.patch(`/${version}/diamond/${id}`, { price: 1 }))
    refusal(503, await ann.remove(`/${version}/diamond/${id}`))
  }
  refusal(503, await ann.post('/v4/certification', { product: id, laboratory: 'GIA' }))
  expect(503, await service.send({ path: `/diamond/${id}` }))
  assert.is((await service.installation.store.readStream(`diamond-${id}`)).length, 1)
  expect(404, await ann.get(`/v4/diamond/${id + 1}`))
})

test('is shown in its last state before the poison event, if it had one', async (given) => {
  const { ann, service } = given
  const { id } = await created(ann, { price: 5 })
  await appendTo(service.installation.store, `diamond-${id}`, {
    type: 'DiamondPatched',
    data: { set: { polish: UNKNOWN_COLOR }, removed: [] },
  })
  for (const version of ['v3', 'v4'])
    assert.match(expect(200, await ann.get(`/${version}/diamond/${id}`)).text, '"price":5,')
  assert.is(list(expect(200, await current(ann, '/v4/diamond'))).length, 1)
  refusal(503, await ann.patch(`/v4/diamond/${id}`, { price: 6 }))
})

test.run()
