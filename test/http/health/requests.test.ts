import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestFigures } from '../../../src/http/health/requests.ts'
import type { Seen } from '../../../src/http/middleware/access-log.ts'

const seen = (more: Partial<Seen>): Seen => ({
  endpoint: 'readDiamond',
  method: 'GET',
  status: 200,
  milliseconds: 3,
  bytes: 100,
  account: 7,
  requestId: 'r',
  address: () => '192.0.2.1',
  ...more,
})

const durations = (figures: RequestFigures) =>
  figures.metrics().flatMap((metric) => (metric.kind === 'histogram' ? [metric] : []))

const test = suite('the figures of requests')

test('count a request in every bucket that it was quick enough for', () => {
  const figures = new RequestFigures()
  figures.saw(seen({ milliseconds: 3 }))
  figures.saw(seen({ milliseconds: 40 }))
  figures.saw(seen({ milliseconds: 60_000 }))
  const [only, ...others] = durations(figures)
  assert.equal(others, [])
  assert.is(only?.value.count, 3)
  assert.is(Math.round((only?.value.sum ?? 0) * 1000), 60_043)
  const within = Object.fromEntries(only?.value.buckets ?? [])
  assert.equal([within['0.001'], within['0.005'], within['0.05'], within['10']], [0, 1, 2, 2])
})

test('tell endpoints, methods and statuses apart, and nothing that a caller could invent', () => {
  const figures = new RequestFigures()
  figures.saw(seen({}))
  figures.saw(seen({ status: 404 }))
  figures.saw(seen({ endpoint: undefined, method: 'BREW', status: 404 }))
  figures.saw(seen({ endpoint: undefined, method: 'STIR', status: 404 }))
  assert.equal(
    durations(figures).map(({ labels, value }) => [...Object.values(labels ?? {}), value.count].join(' ')),
    ['readDiamond GET 200 1', 'readDiamond GET 404 1', 'none other 404 2'],
  )
})

test.run()
