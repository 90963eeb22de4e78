import { Registry } from 'prom-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestMetrics } from '../../../src/http/health/health.ts'
import type { RequestLogEntry } from '../../../src/http/middleware/access-log.ts'

const logEntry = (more: Partial<RequestLogEntry>): RequestLogEntry => ({
  endpoint: 'readDiamond',
  method: 'GET',
  status: 200,
  durationMs: 3,
  responseBytes: 100,
  account: 7,
  requestId: 'r',
  clientAddress: () => '192.0.2.1',
  ...more,
})

/** The samples of `/metrics` after some requests, by name and labels. */
async function samplesAfter(...requests: readonly Partial<RequestLogEntry>[]): Promise<ReadonlyMap<string, number>> {
  const registry = new Registry()
  const figures = new RequestMetrics(registry)
  for (const request of requests) figures.record(logEntry(request))
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => line.split(' ') as [string, string]).map(([name, value]) => [name, Number(value)]))
}

const DURATION = 'adamant_http_request_duration_seconds'

const countsIn = (samples: ReadonlyMap<string, number>) =>
  [...samples].filter(([name]) => name.startsWith(`${DURATION}_count`))

const test = suite('request metrics')

test('count a request in every bucket whose bound is at least its duration', async () => {
  const samples = await samplesAfter({ durationMs: 3 }, { durationMs: 40 }, { durationMs: 60_000 })
  const labels = 'endpoint="readDiamond",method="GET",status="200"'
  assert.equal(countsIn(samples), [[`${DURATION}_count{${labels}}`, 3]])
  assert.is(Math.round((samples.get(`${DURATION}_sum{${labels}}`) ?? 0) * 1000), 60_043)
  const within = ['0.001', '0.005', '0.05', '10', '+Inf'].map((le) =>
    samples.get(`${DURATION}_bucket{le="${le}",${labels}}`),
  )
  assert.equal(within, [0, 1, 2, 2, 3])
  assert.is(samples.get(`adamant_http_response_bytes_total{${labels}}`), 300)
})

test('have labels for endpoint, method and status, but not for values that a caller invents', async () => {
  const invented = { endpoint: undefined, status: 404 }
  const samples = await samplesAfter(
    {},
    { status: 404 },
    { ...invented, method: 'BREW' },
    { ...invented, method: 'STIR' },
  )
  assert.equal(countsIn(samples), [
    [`${DURATION}_count{endpoint="readDiamond",method="GET",status="200"}`, 1],
    [`${DURATION}_count{endpoint="readDiamond",method="GET",status="404"}`, 1],
    [`${DURATION}_count{endpoint="none",method="other",status="404"}`, 2],
  ])
})

test.run()
