import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { STARTING_ENDPOINTS } from '../../src/http/starting.ts'
import { withEndpoints } from './kit/endpoint-server.ts'

const test = suite('a service that is starting')

const REQUESTS: readonly (readonly [method: string, path: string, type: string])[] = [
  ['GET', '/health/ready', 'application/json'],
  ['GET', '/metrics', 'application/json'],
  ['GET', '/v4/diamond/1', 'application/json'],
  ['POST', '/v4/diamond', 'application/json'],
  ['POST', '/v3/diamond/bulk', 'application/json'],
  ['POST', '/api/oauth/v2/token', 'application/json'],
  ['POST', '/api/v1/share', 'application/json'],
  ['GET', '/inventory', 'text/html'],
]

test('is live, and responds 503 with Retry-After in the format of each resource', () =>
  withEndpoints(STARTING_ENDPOINTS, undefined, async ({ url }) => {
    const live = await fetch(`${url}/health/live`)
    assert.equal([live.status, await live.json()], [200, { status: 'live' }])
    for (const [method, path, type] of REQUESTS) {
      const body = method === 'POST' ? { body: '{"sku":', headers: { 'Content-Type': 'application/json' } } : {}
      const response = await fetch(url + path, { method, ...body })
      const text = await response.text()
      assert.equal([path, response.status], [path, 503])
      assert.ok(Number(response.headers.get('retry-after')) > 0, path)
      assert.match(response.headers.get('content-type') ?? '', type)
      assert.match(text, 'The service is starting; try again')
    }
    assert.is((await fetch(`${url}/nowhere`)).status, 404)
  }))

test.run()
