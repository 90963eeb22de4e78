import { once } from 'node:events'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createApp } from '../../../src/http/app.ts'
import { endpoint, publicAccess } from '../../../src/http/kit/endpoint.ts'
import { platformGroup } from '../../../src/http/kit/errors.ts'
import { ok } from '../../../src/http/kit/response.ts'
import { listen } from '../../../src/http/kit/server.ts'
import { until } from '../../until.ts'

const test = suite('responses that are not read')

/** Characters of a response: more than the operating system buffers, so that it waits for its client. */
const LENGTH = 32 * 1024 * 1024

const declaration = {
  summary: 'A long text',
  auth: publicAccess,
  group: platformGroup,
  responses: { 200: { description: 'The text' } },
  handler: () => ok('x'.repeat(LENGTH)),
}
const readText = endpoint({ ...declaration, operationId: 'readText', method: 'GET', path: '/v4/text' })
const writeText = endpoint({ ...declaration, operationId: 'writeText', method: 'POST', path: '/v4/text' })
const readShortText = endpoint({
  ...declaration,
  operationId: 'readShortText',
  method: 'GET',
  path: '/v4/short',
  handler: () => ok('short'),
})

test('have a share of the memory: further reads of their client get 503, writes and other addresses a response', async () => {
  const app = createApp(
    [readText, writeText, readShortText],
    {},
    {
      log: () => {},
      trustProxy: 1,
      responseMemoryBytes: 5 * LENGTH,
    },
  )
  const server = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${server.port}`
  const send = (address: string, path = '/v4/text', method = 'GET') =>
    fetch(url + path, { method, headers: { 'X-Forwarded-For': address } })
  const unread = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const socket = connect(server.port, '127.0.0.1')
      socket.write('GET /v4/text HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n')
      await once(socket, 'readable')
      return socket
    }),
  )
  try {
    const refused = await send('192.0.2.1')
    assert.is(refused.status, 503)
    assert.is(refused.headers.get('Retry-After'), '2')
    assert.match(await refused.text(), /Too many responses have not been read yet/)
    assert.is((await (await send('192.0.2.1', '/v4/text', 'POST')).text()).length, LENGTH)
    assert.is(await (await send('192.0.2.1', '/v4/short')).text(), 'short')
    assert.is((await send('192.0.2.1', '/v4/text', 'HEAD')).status, 200)
    assert.is((await (await send('192.0.2.2')).text()).length, LENGTH)
    for (const socket of unread) socket.destroy()
    await until('the memory of the disconnected clients', async () => {
      const response = await send('192.0.2.1')
      await response.text()
      return response.status === 200
    })
  } finally {
    for (const socket of unread) socket.destroy()
    await server.stop()
  }
})

test.run()
