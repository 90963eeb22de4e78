import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SqliteEventStore } from '../../src/stores/sqlite/events.ts'
import type { EventStore } from '../../src/stores/ports/event-store.ts'
import { expect, refusal } from '../api/harness/request.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { expectNoChange, created, list, stone } from '../api/harness/stones.ts'

const test = suite('a service whose disk is full')

const isEmbedded = (store: EventStore): store is SqliteEventStore => 'limitPages' in store

/** Asserts what the readiness check and the metrics report. */
async function assertReports(service: Service, status: number, gauge: number): Promise<void> {
  const ready = expect(status, await service.send({ path: '/health/ready' }))
  if (gauge === 1) assert.match(ready.text, /writes are refused/)
  const metrics = expect(200, await service.send({ path: '/metrics' }))
  assert.match(metrics.text, new RegExp(`^adamant_log_refuses_writes ${gauge}$`, 'm'))
}

test('rejects writes with 503 and Retry-After, still serves reads, and recovers without a restart', async () => {
  const service = await startService()
  try {
    const { ann } = service
    const { store } = service.installation
    if (!isEmbedded(store)) return
    const first = await created(ann, { sku: 'BEFORE' })
    await store.limitPages(1)
    const entries = Array.from({ length: 500 }, (_, number) => stone({ sku: `FULL-${number}` }))
    const full = await Promise.all(Array.from({ length: 6 }, () => ann.post('/v4/diamond/bulk', { entries })))
    assert.ok(full.some(({ status }) => status === 503))
    await expectNoChange([ann], async () => {
      refusal(503, await ann.post('/v4/diamond/bulk', { entries }))
      const headers = { 'Idempotency-Key': 'full' }
      refusal(503, await ann.post('/v4/diamond/bulk', { entries }, headers))
      expect(200, await ann.get(`/v4/diamond/${first.id}`))
      expect(200, await ann.get('/v3/diamond'))
      expect(200, await service.send({ path: '/v2/constants' }))
    })
    await assertReports(service, 503, 1)
    const stored = full.filter(({ status }) => status === 201).length
    assert.is((await ann.get('/v4/diamond')).headers['x-total-count'], String(1 + stored * 500))

    await store.limitPages(1_000_000)
    await assertReports(service, 200, 0)
    const headers = { 'Idempotency-Key': 'full' }
    const after = list(expect(201, await ann.post('/v4/diamond/bulk', { entries }, headers)))
    assert.is(after.length, 500)
    expect(200, await ann.patch(`/v4/diamond/${first.id}`, { price: 1 }))
    assert.is((await ann.get('/v4/diamond')).headers['x-total-count'], String(501 + stored * 500))
  } finally {
    await service.stop()
  }
})

test.run()
