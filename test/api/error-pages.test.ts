import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from './harness/request.ts'
import { startService, type Service } from './harness/service.ts'
import { fixture, reportNamed } from '../fixtures/reports/reports.ts'
import { attached } from './harness/form.ts'
import { created } from './harness/stones.ts'

const test = suite<{ service: Service }>('an error')
test.before(async (context) => {
  context.service = await startService()
})
test.after(({ service }) => service.stop())

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' }

test('is a page with the way home if its address was opened in a browser, whatever the address', async ({
  service,
}) => {
  const statuses = {
    '/nothing': 404,
    '/v4/diamond': 401,
    '/v4/nothing': 404,
    '/v4/diamond?q=1': 401,
    '/v2/constants?q=1': 400,
    '/api/oauth/v2/token': 405,
    '/api/v1/nothing': 404,
    '/files/1?signature=x': 404,
    '/secret/nothing': 404,
    '/private/nothing': 404,
    '/share/nothing': 404,
    '/diamond/999': 404,
    '/feed/nothing': 404,
  }
  for (const [path, expected] of Object.entries(statuses)) {
    const { status, headers, text } = await service.send({ path, headers: BROWSER })
    assert.equal([path, status, headers['content-type']], [path, expected, 'text/html; charset=utf-8'])
    const [, href = ''] = /<a class="home" href="([^"]*)"/.exec(text) ?? []
    assert.is(new URL(href, service.url + path).pathname, '/', path)
  }
})

test('of a link to a PDF that is incomplete is a page', async ({ service }) => {
  const { ann } = service
  const { id } = await created(ann)
  const { file } = reportNamed('gia')
  const { file: link } = await attached(ann, id, fixture(file))
  const { pathname } = new URL(String(link))
  const page = expect(404, await service.send({ path: pathname, headers: BROWSER }))
  assert.match(page.text, /<h1>Page not found<\/h1>/)
})

test('is JSON for a program, also one whose library prefers HTML', async ({ service }) => {
  const jdk = { Accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', Authorization: 'Bearer wrong' }
  for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json, text/html' }, jdk]) {
    const response = expect(401, await service.send({ path: '/v4/diamond', headers }))
    assert.ok(Array.isArray((response.json() as { error: unknown }).error))
    assert.match(String(response.headers.vary), /\bAccept\b/)
  }
  const post = { method: 'POST', path: '/v4/diamond', headers: BROWSER, body: '{}' }
  assert.ok((expect(401, await service.send(post)).json() as { requestId: string }).requestId)
})

test.run()
