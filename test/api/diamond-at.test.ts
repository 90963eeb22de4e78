import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { attached } from './harness/form.ts'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { isScored, untilEtag } from './harness/scored.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created, shown, unsigned } from './harness/stones.ts'
import { randomFor } from '../seeded.ts'
import { until } from '../until.ts'

type Given = { service: Service; ann: Vendor; bob: Vendor; time: { now: number } }
const test = suite<Given>('a diamond at a past time')
test.before(async (given) => {
  const time = { now: Date.now() - 100_000_000 }
  given.time = time
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => time.now, scored: true })
  given.ann = given.service.ann
  given.bob = given.service.bob
})
test.after(({ service }) => service.stop())

const SECOND = 1000
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 19)
const at = (vendor: Vendor, id: number, ms: number, version = 'v4') =>
  vendor.get(`/${version}/diamond/${id}?at=${iso(ms)}Z`)

test('is shown as it was at the end of that second, with its ETag at that time', async ({ ann, time }) => {
  const { id } = await created(ann, { cutQuality: 'Good' })
  const scored = await untilEtag(ann, id, '"0.1"')
  const [born] = [time.now]
  time.now += 10 * SECOND
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
  await attached(ann, id)
  const later = expect(200, await ann.get(`/v4/diamond/${id}`))
  time.now += 10 * SECOND
  const atBirth = expect(200, await at(ann, id, born))
  assert.equal(shown(atBirth), shown(scored))
  assert.is(atBirth.headers.etag, '"0.1"')
  assert.is(atBirth.headers['memento-datetime'], new Date(Math.floor(born / SECOND) * SECOND).toUTCString())
  const between = expect(200, await at(ann, id, born + 12 * SECOND))
  assert.is(between.headers.etag, later.headers.etag)
  assert.equal(unsigned(between), unsigned(later))
  expect(304, await ann.get(`/v4/diamond/${id}?at=${iso(born)}Z`, { 'If-None-Match': '"0.1"' }))
})

test('accepts the date formats of the filters, and the current second', async ({ ann, time }) => {
  const { id } = await created(ann)
  await untilEtag(ann, id, '"0.1"')
  const zoned = new Date(time.now + 3.5 * 3600 * SECOND).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  expect(200, await ann.get(`/v3/diamond/${id}?at=${zoned}+0330`))
  refusal(422, await at(ann, id, time.now + SECOND))
  for (const wrong of ['', 'yesterday', '2026-11-22', iso(time.now), '1700000000']) {
    assert.equal(pointers(refusal(400, await ann.get(`/v4/diamond/${id}?at=${wrong}`))), ['at'])
  }
  refusal(400, await ann.get(`/v4/diamond/${id}?at=${iso(time.now)}Z&at=${iso(time.now)}Z`))
  refusal(422, await ann.get(`/v4/diamond/${id}?at=2020-13-01T00:00:00Z`))
})

test('is unknown before its creation and from its deletion on', async ({ ann, bob, time }) => {
  time.now += 10 * SECOND
  const { id } = await created(ann)
  await untilEtag(ann, id, '"0.1"')
  const born = time.now
  time.now += 10 * SECOND
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  const deletedAt = time.now
  time.now += 10 * SECOND
  refusal(404, await at(ann, id, born - SECOND))
  expect(200, await at(ann, id, born))
  expect(200, await at(ann, id, deletedAt - SECOND, 'v3'))
  refusal(404, await at(ann, id, deletedAt))
  refusal(404, await at(ann, id, deletedAt + SECOND))
  refusal(404, await at(bob, id, born))
})

test('is visible only to its owner', async ({ ann, bob, time }) => {
  const { id } = await created(ann)
  await untilEtag(ann, id, '"0.1"')
  refusal(403, await at(bob, id, time.now))
  refusal(404, await at(ann, 9_007_199_254_740_991, time.now))
})

for (const version of ['v3', 'v4']) {
  test(`cannot be requested from a ${version} list, which names the endpoint that supports it`, async ({
    ann,
    time,
  }) => {
    const { error } = refusal(400, await ann.get(`/${version}/diamond?at=${iso(time.now)}Z`))
    assert.match(String(error), new RegExp(`GET /${version}/diamond/\\{id\\}\\?at=`))
  })
}

/** The responses for all diamonds in both versions at the end of a second. */
type RecordedMoment = {
  readonly time: number
  readonly responses: readonly (readonly [number, unknown, string | undefined])[]
}

async function record(ids: readonly number[], read: (version: string, id: number) => Promise<ApiResponse>) {
  const responses: [number, unknown, string | undefined][] = []
  for (const id of ids) {
    for (const version of ['v3', 'v4']) {
      const response = await read(version, id)
      responses.push([response.status, response.status === 200 ? unsigned(response) : undefined, response.headers.etag])
    }
  }
  return responses
}

test('equals the responses recorded at 50 moments of a random workload', async ({ service, time }) => {
  const ann = await service.newVendor()
  const random = randomFor('a diamond at a time')
  const ids: number[] = []
  const reports = new Map<number, number[]>()
  const born = (await created(ann)).id
  ids.push(born)
  await untilEtag(ann, born, '"0.1"')
  const change: Record<string, (id: number) => Promise<unknown>> = {
    price: (id) => ann.patch(`/v4/diamond/${id}`, { price: random.below(1000) }),
    color: (id) => ann.patch(`/v4/diamond/${id}`, { color: random.pick(['D', 'E', 'F', null]) }),
    carat: (id) => ann.patch(`/v3/diamond/${id}`, { carat: random.pick([0.5, 0.7, 1, 1.5]) }),
    access: (id) => ann.patch(`/v4/diamond/${id}`, { access: random.pick([0, 1, 2]) }),
    certify: async (id) => {
      const response = await ann.post('/v4/certification', { product: id, laboratory: 'GIA', number: '1' })
      if (response.status === 201) reports.set(id, [...(reports.get(id) ?? []), (response.json() as { id: number }).id])
    },
    uncertify: async (id) => {
      const report = reports.get(id)?.pop()
      if (report !== undefined) await ann.remove(`/v4/certification/${report}`)
    },
    create: async () => void ids.push((await created(ann)).id),
    remove: (id) => (random.next() < 0.3 ? ann.remove(`/v4/diamond/${id}`) : Promise.resolve()),
  }
  const recorded: RecordedMoment[] = []
  for (let moment = 0; moment < 50; moment++) {
    time.now += (1 + random.below(5)) * SECOND
    const isNew = ids.length === 1
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const kind = isNew ? 'create' : (random.pick(Object.keys(change)) ?? '')
      await change[kind]?.(random.pick(ids.slice(-4)) ?? born)
    }
    await untilScored(ann, ids)
    recorded.push({
      time: time.now,
      responses: await record(ids, (version, id) => ann.get(`/${version}/diamond/${id}`)),
    })
  }
  time.now += 10 * SECOND
  for (const { time: moment, responses } of recorded) {
    const existingIds = ids.slice(0, responses.length / 2)
    assert.equal(
      await record(existingIds, (version, id) => at(ann, id, moment, version)),
      responses,
      `at ${iso(moment)}`,
    )
  }
})

/** Waits for all scores, so that they get the current time of the test's clock. */
async function untilScored(vendor: Vendor, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await until(`the scores of diamond ${id}`, async () => {
      const response = await vendor.get(`/v4/diamond/${id}`)
      return response.status === 404 || isScored(shown(response))
    })
  }
}

test.run()
