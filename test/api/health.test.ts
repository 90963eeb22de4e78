import * as assert from 'uvu/assert'
import { expect } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'

const test = apiSuite('a monitoring endpoint')

test('reports liveness and readiness and forbids caching', async ({ service }) => {
  for (const [path, status] of [
    ['/health/live', 'live'],
    ['/health/ready', 'ready'],
  ] as const) {
    const response = expect(200, await service.send({ path }))
    assert.equal(response.json(), { status })
    assert.is(response.headers['cache-control'], 'no-store')
  }
})

test('serves metrics in the Prometheus text format', async ({ service }) => {
  const response = expect(200, await service.send({ path: '/metrics' }))
  assert.match(String(response.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  for (const line of response.text.trim().split(/\n+/))
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+)$/)
})

test.run()
