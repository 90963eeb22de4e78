import * as assert from 'uvu/assert'
import { VERSION } from '../../src/runtime/version.ts'
import { expect } from './harness/request.ts'
import { shown } from './harness/stones.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'

const test = apiSuite('the OpenAPI description')

test('is public, names its server and is cacheable', async ({ service }) => {
  const response = expect(200, await service.send({ path: '/openapi.json' }))
  assert.match(String(response.headers['content-type']), /^application\/json/)
  assert.match(String(response.headers['cache-control']), /max-age/)
  const { openapi, info, servers, paths } = response.json() as {
    openapi: string
    info: { version: string }
    servers: { url: string }[]
    paths: Record<string, object>
  }
  assert.is(openapi, '3.1.0')
  assert.is(info.version, VERSION)
  assert.equal(servers, [{ url: service.url }])
  assert.ok('/v4/diamond' in paths)
})

test('contains the endpoints for programs, and no pages or their assets', async ({ service }) => {
  const { paths } = expect(200, await service.send({ path: '/openapi.json' })).json() as { paths: object }
  for (const path of ['/v4/diamond/{id}', '/v2/constants', '/api/v1/share', '/log/checkpoint', '/metrics', '/'])
    assert.ok(path in paths, path)
  for (const path of [
    '/docs',
    '/docs/start.js',
    '/favicon.ico',
    '/robots.txt',
    '/diamond/{id}',
    '/secret/{key}',
    '/inventory',
  ])
    assert.not.ok(path in paths, path)
})

test('has examples that create and change stones', async ({ service }) => {
  type Operation = { readonly requestBody?: { readonly content: Record<string, { readonly example: object }> } }
  const { paths } = expect(200, await service.send({ path: '/openapi.json' })).json() as {
    paths: Record<string, Record<string, Operation>>
  }
  const exampleOf = (path: string, method: string) =>
    paths[path]?.[method]?.requestBody?.content['application/json']?.example ?? {}
  for (const version of ['v3', 'v4']) {
    const { id } = shown(
      expect(201, await service.ann.post(`/${version}/diamond`, exampleOf(`/${version}/diamond`, 'post'))),
    )
    const changes = exampleOf(`/${version}/diamond/{id}`, 'patch')
    expect(200, await service.ann.patch(`/${version}/diamond/${id}`, changes))
    const bulk = `/${version}/diamond/bulk`
    expect(201, await service.ann.post(bulk, exampleOf(bulk, 'post')))
    const { entries: [entry] = [] } = exampleOf(bulk, 'patch') as { readonly entries?: readonly object[] }
    expect(200, await service.ann.patch(bulk, { entries: [{ ...entry, id }] }))
  }
})

test('is linked from the API reference, as are its files, also at an address with trailing slashes', async ({
  service,
}) => {
  for (const path of ['/docs', '/docs/', '/docs//']) {
    const { text } = expect(200, await service.send({ path }))
    const targets = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target = '']) => target)
    const paths = targets
      .filter((target) => !target.startsWith('data:'))
      .map((target) => new URL(target, service.url + path).pathname)
    assert.ok(paths.includes('/openapi.json'), path)
    for (const one of paths) expect(200, await service.send({ path: one }))
  }
})

test('omits endpoints that its port does not serve', async ({ service }) => {
  const pathsOf = async (one: Service) =>
    Object.keys((expect(200, await one.send({ path: '/openapi.json' })).json() as { paths: object }).paths)
  assert.ok((await pathsOf(service)).includes('/metrics'))
  const apart = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { METRICS_PORT: '0' } })
  try {
    assert.not((await pathsOf(apart)).includes('/metrics'))
  } finally {
    await apart.stop()
  }
})

test('has a reference page whose files have the right content types', async ({ service }) => {
  const types = {
    'swagger-ui.css': /^text\/css/,
    'swagger-ui-bundle.js': /^text\/javascript/,
    'start.js': /^text\/javascript/,
  }
  for (const [file, type] of Object.entries(types)) {
    const { headers } = expect(200, await service.send({ path: `/docs/${file}` }))
    assert.match(String(headers['content-type']), type)
  }
})

test('has a reference page whose files return 304 for a known ETag', async ({ service }) => {
  const { headers } = expect(200, await service.send({ path: '/docs/start.js' }))
  const again = { path: '/docs/start.js', headers: { 'If-None-Match': String(headers.etag) } }
  assert.is(expect(304, await service.send(again)).text, '')
})

test.run()
