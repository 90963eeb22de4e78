import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../src/stores/ports/event-store.ts'
import { recordings } from '../events/recordings.ts'
import { appendTo } from '../projections/engine/poison-events.ts'
import { everyAttempt, faultyStore, type FaultyStore } from '../stores/faulty-store.ts'
import { vendor } from './harness/account.ts'
import { attached } from './harness/form.ts'
import { expect, refusal } from './harness/request.ts'
import { servicesInFolder } from './harness/folder.ts'
import { withDiamonds } from './harness/diamonds-with.ts'
import { clockOfLinks, GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { expectNoChange, created, current, list, shown, stone } from './harness/stones.ts'

const test = suite('a write')

/** Read model timeout where no process projects; the default is 1.5 s. */
const SHORT_TIMEOUT_MS = 20

test('before any process has projected responds after the read model timeout, is marked as pending and is readable by id, and lists are refused', () =>
  servicesInFolder(async (start) => {
    const service = await start('http', {}, { readModelTimeoutMs: SHORT_TIMEOUT_MS, clock: clockOfLinks() })
    const { ann, bob } = service
    const response = await ann.post('/v4/diamond', stone())
    const { id } = shown(expect(201, response))
    assert.is(response.headers['x-consistency'], 'pending')
    assert.equal(expect(200, await ann.get(`/v4/diamond/${id}`)).json(), response.json())
    expect(200, await ann.get(`/v3/diamond/${id}`))
    refusal(403, await bob.get(`/v4/diamond/${id}`))

    const patched = await ann.patch(`/v4/diamond/${id}`, { price: 5 })
    assert.is(shown(expect(200, patched))['price'], 5)
    assert.equal([patched.headers['x-consistency'], patched.headers.etag], ['pending', '"1.0"'])
    // An empty list would make a client create everything again.
    for (const list of ['/v4/diamond', '/v3/diamond', '/v4/diamond/changes', '/v4/diamond/export?format=csv'])
      refusal(503, await ann.get(list))
    const removed = await created(ann)
    assert.is(expect(204, await ann.remove(`/v4/diamond/${removed.id}`)).headers['x-consistency'], 'pending')
    refusal(404, await ann.get(`/v4/diamond/${removed.id}`))

    const projecting = await start('http,projections')
    const annAtProjecting = vendor(projecting.url, ann.account, ann.token)
    const after = expect(200, await annAtProjecting.get('/v4/diamond'))
    assert.equal(list(after), [{ ...shown(patched), _links: list(after)[0]?.['_links'] }])
    assert.is(after.headers['x-consistency'], undefined)
    assert.is((await created(annAtProjecting)).sku, 'SKU-1')
  }))

test('that changes nothing shows what a read before it showed of scores and reports, although no process projects', () =>
  servicesInFolder(async (start) => {
    const projecting = await start('http,projections')
    const { id } = await created(projecting.ann)
    const certified = await created(projecting.ann)
    await projecting.stop()
    const { url, installation } = await start(
      'http',
      {},
      { readModelTimeoutMs: SHORT_TIMEOUT_MS, clock: clockOfLinks() },
    )
    const ann = vendor(url, projecting.ann.account, projecting.ann.token)
    const report = await attached(ann, certified.id)
    const append = async (stream: string, recorded: string, changes: object) => {
      const { type = '', data, metadata } = recordings().get(recorded) ?? {}
      const event = { type, data: { ...data, ...changes }, schema: String(metadata?.['schema']) }
      await appendTo(installation.store, stream, event)
    }
    await append(`scores-${id}`, 'DiamondScored.1.json', { id, revision: 0 })
    await append(`diamond-${certified.id}`, 'ReportRead.4.json', { certification: report.id })

    const read = await Promise.all([id, certified.id].map(async (one) => ann.get(`/v4/diamond/${one}`)))
    assert.equal(
      read.map((response) => expect(200, response).headers.etag),
      ['"0.1"', '"1.1"'],
    )
    for (const before of read) {
      const changed = expect(200, await ann.patch(`/v4/diamond/${shown(before).id}`, { price: null }))
      assert.equal([changed.headers.etag, changed.json()], [before.headers.etag, before.json()])
    }
    const entries = read.map((response) => ({ id: shown(response).id }))
    assert.equal(
      expect(200, await ann.patch('/v4/diamond/bulk', { entries })).json(),
      read.map((response) => response.json()),
    )
  }))

test('that removes a certification is also marked as pending, although its diamond must be looked up first', () =>
  servicesInFolder(async (start) => {
    const { ann } = await start('http', {}, { readModelTimeoutMs: SHORT_TIMEOUT_MS, clock: clockOfLinks() })
    const { id } = await created(ann)
    const report = await attached(ann, id)
    const removed = await ann.remove(`/v4/certification/${report.id}`)
    assert.is(expect(204, removed).headers['x-consistency'], 'pending')
    refusal(404, await ann.remove(`/v4/certification/${report.id}`))
  }))

test('is visible to a process with projections and to one without', () =>
  servicesInFolder(async (start) => {
    const projecting = await start('http,projections')
    const httpOnly = await start('http')
    const annAtProjecting = projecting.ann
    const annAtHttpOnly = vendor(httpOnly.url, annAtProjecting.account, annAtProjecting.token)
    for (let number = 0; number < 10; number++) {
      const [writer, reader] = number % 2 === 0 ? [annAtHttpOnly, annAtProjecting] : [annAtProjecting, annAtHttpOnly]
      const response = expect(201, await writer.post('/v4/diamond', stone({ sku: `TWO-${number}` })))
      assert.is(response.headers['x-consistency'], undefined)
      const { id } = shown(response)
      assert.is(shown(expect(200, await reader.get(`/v4/diamond/${id}`))).sku, `TWO-${number}`)
      const all = expect(200, await reader.get('/v3/diamond?limit=1000'))
      assert.is(all.headers['x-total-count'], String(number + 1))
      assert.ok(list(all).some((diamond) => diamond.id === id))
      expect(200, await reader.patch(`/v4/diamond/${id}`, { price: number }))
      assert.is(shown(await writer.get(`/v4/diamond/${id}`))['price'], number)
      assert.is(list(await writer.get(`/v4/diamond?f[sku][]=TWO-${number}`))[0]?.['price'], number)
    }
  }))

test('is visible to two projecting processes, also after one of them stops', () =>
  servicesInFolder(async (start) => {
    const first = await start('http,projections')
    const second = await start('http,projections')
    const annAtSecond = vendor(second.url, first.ann.account, first.ann.token)
    await created(first.ann, { sku: 'A' })
    await created(annAtSecond, { sku: 'B' })
    await first.stop()
    const { id } = await created(annAtSecond, { sku: 'C' })
    assert.equal(
      list(await current(annAtSecond, '/v4/diamond'))
        .map(({ sku }) => sku)
        .toSorted(),
      ['A', 'B', 'C'],
    )
    expect(200, await annAtSecond.patch(`/v4/diamond/${id}`, { price: 1 }))
  }))

/** Runs a service whose event store fails on demand. */
async function withFaults(run: (service: Service, faults: FaultyStore) => Promise<void>): Promise<void> {
  const made: FaultyStore[] = []
  const service = await startService({
    clock: clockOfLinks(),
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    store: (store) => {
      const faulty = faultyStore(store)
      made.push(faulty)
      return faulty
    },
  })
  try {
    const [faults] = made
    if (faults === undefined) throw new Error('the store was not wrapped')
    await run(service, faults)
  } finally {
    await service.stop()
  }
}

test('is done once although the event store timed out, whether the event was stored, is stored later or never', () =>
  withFaults(async ({ ann }, faults) => {
    const { id } = await created(ann)
    for (const [index, fault] of (['stored', 'late', 'lost'] as const).entries()) {
      const before = Number((await ann.get('/v4/diamond')).headers['x-total-count'])
      faults.failNext(fault)
      expect(201, await ann.post('/v4/diamond', stone()))
      faults.failNext(fault)
      expect(201, await ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }))
      faults.failNext(fault)
      expect(200, await ann.patch(`/v4/diamond/${id}`, { price: index + 1 }))
      await faults.storeLateAppends()
      const after = await ann.get('/v4/diamond')
      assert.is(Number(after.headers['x-total-count']), before + 3, fault)
      assert.is((await ann.get(`/v4/diamond/${id}`)).headers.etag, `"${index + 1}.0"`)
    }
  }))

test('is rejected with 503 and Retry-After if the event store is unavailable, and nothing is written', () =>
  withFaults(async ({ ann }, faults) => {
    const { id } = await created(ann)
    const writes = [
      () => ann.post('/v4/diamond', stone()),
      () => ann.post('/v4/diamond', stone(), { 'Idempotency-Key': 'k' }),
      () => ann.post('/v3/diamond/bulk', { entries: [stone({ cutShape: 2 })] }),
      () => ann.patch(`/v4/diamond/${id}`, { price: 1 }),
      () => ann.patch('/v4/diamond/bulk', { entries: [{ id, price: 1 }] }),
      () => ann.remove(`/v4/diamond/${id}`),
      () => ann.remove('/v4/diamond/bulk', { entries: [{ id }] }),
    ]
    await expectNoChange([ann], async () => {
      for (const write of writes) {
        faults.failNext('unavailable')
        assert.not.match(refusal(503, await write()).error.join(), /made unavailable/)
      }
    })
    expect(201, await ann.post('/v4/diamond', stone({ price: 4 }), { 'Idempotency-Key': 'k' }))
  }))

test('with an unknown outcome returns 503, and a retry with the same key returns its result', () =>
  withFaults(async ({ ann }, faults) => {
    await created(ann)
    const send = () => ann.post('/v4/diamond', stone({ sku: 'KEYED' }), { 'Idempotency-Key': 'k-unknown' })
    faults.failNext(...everyAttempt('stored'))
    refusal(503, await send())
    const { id } = shown(expect(201, await send()))
    assert.equal(
      list(await ann.get('/v4/diamond?f[sku][]=KEYED')).map((diamond) => diamond.id),
      [id],
    )
  }))

test('is readable by id while the read store is unavailable, and lists return 503 until it is available again', async () => {
  const outage = { now: false }
  const service = await startService({
    clock: clockOfLinks(),
    reads: withDiamonds((model) => {
      const check = async () => {
        if (outage.now) throw new StoreUnavailable('made unavailable by the test')
      }
      return {
        get: (id, select) => check().then(() => model.get(id, select)),
        find: (query) => check().then(() => model.find(query)),
        count: (where, bounded) => check().then(() => model.count(where, bounded)),
      }
    }),
  })
  try {
    const { ann } = service
    const { id } = await created(ann)
    const before = expect(200, await ann.get(`/v4/diamond/${id}`)).json()
    outage.now = true
    assert.equal(expect(200, await ann.get(`/v4/diamond/${id}`)).json(), before)
    refusal(503, await ann.get('/v4/diamond'))
    outage.now = false
    expect(200, await ann.get(`/v4/diamond/${id}`))
    expect(200, await ann.get('/v4/diamond'))
  } finally {
    await service.stop()
  }
})

test.run()
