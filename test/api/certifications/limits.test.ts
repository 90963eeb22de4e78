import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import {
  certification,
  file,
  formBody,
  formHeaders,
  partHead,
  pathOf,
  smallPdf,
  text,
  upload,
} from '../harness/form.ts'
import type { Vendor } from '../harness/account.ts'
import { expect, pointers, refusal } from '../harness/request.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'
import { filesOf } from '../harness/stored-files.ts'
import { until } from '../../until.ts'

const test = apiSuite('an upload')

const LIMIT = 10_485_760

/** Opens a connection and sends the head of a request and the first bytes of its form. */
async function beginUpload(service: Service, vendor: Vendor, product: number, length: number): Promise<Socket> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done))
  const head = [
    'POST /v4/certification HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${vendor.token}`,
    `Content-Type: ${formHeaders['Content-Type']}`,
    `Content-Length: ${length}`,
    '',
    '',
  ]
  socket.write(head.join('\r\n'))
  for (const part of [text('product', product), text('laboratory', 'GIA')]) {
    socket.write(Buffer.concat([partHead(part), Buffer.from(`${part.content}\r\n`)]))
  }
  socket.write(partHead(file('')))
  socket.write(smallPdf(200_000))
  return socket
}

test('of 10,485,760 bytes is accepted and returned byte for byte', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdf = smallPdf(LIMIT)
  const made = certification(
    expect(201, await upload(ann, [text('product', id), text('laboratory', 'GIA'), file(pdf)])),
  )
  const { text: content, headers } = await service.send({ path: pathOf(made.file) })
  assert.is(headers['content-length'], String(LIMIT))
  assert.ok(Buffer.from(content).equals(pdf))
})

test('of one byte more is rejected with 413 and leaves no file', async ({ ann, service }) => {
  const { id } = await created(ann)
  const before = await filesOf(service)
  const parts = [text('product', id), text('laboratory', 'GIA'), file(smallPdf(LIMIT + 1))]
  refusal(413, await upload(ann, parts))
  const chunked = { method: 'POST', path: '/v4/certification', headers: formHeaders, body: [formBody(parts)] }
  refusal(413, await ann.send(chunked))
  assert.equal((await filesOf(service)).sort(), before.sort())
  assert.equal(shown(await ann.get(`/v4/diamond/${id}`))['certifications'], [])
})

test('with a file that is far too large is rejected at /file, with and without a Content-Length', async ({ ann }) => {
  const { id } = await created(ann)
  for (const bytes of [smallPdf(LIMIT + 2_000_000), Buffer.alloc(LIMIT + 2_000_000, 'x')]) {
    const whole = formBody([text('product', id), text('laboratory', 'GIA'), file(bytes)])
    for (const body of [whole, [whole], [whole], [whole]]) {
      const refused = await ann.send({ method: 'POST', path: '/v4/certification', headers: formHeaders, body })
      assert.equal(pointers(refusal(413, refused)), ['/file'])
    }
  }
})

test('with too large a Content-Length is rejected before its body is sent', async ({ ann, service }) => {
  const { id } = await created(ann)
  const socket = await beginUpload(service, ann, id, 5_000_000_000)
  const response = await new Promise<string>((done) => socket.once('data', (chunk: Buffer) => done(chunk.toString())))
  assert.match(response, /^HTTP\/1\.1 413 /)
  socket.destroy()
})

test('without a Content-Length is rejected when it exceeds the limit, whatever its parts are called', async ({
  ann,
}) => {
  const { id } = await created(ann)
  const attic = { name: 'attic', content: Buffer.alloc(LIMIT + 1_000_000, 'x'), filename: 'attic.bin' }
  const body = [formBody([text('product', id), text('laboratory', 'GIA'), attic])]
  refusal(413, await ann.send({ method: 'POST', path: '/v4/certification', headers: formHeaders, body }))
})

test('whose client disconnects leaves no file', async ({ ann, service }) => {
  const { id } = await created(ann)
  const before = await filesOf(service)
  const socket = await beginUpload(service, ann, id, 1_000_000)
  await until('the upload in progress', async () => (await filesOf(service)).length > before.length)
  socket.destroy()
  await until('the removal of its files', async () => (await filesOf(service)).length === before.length)
  assert.equal(shown(await ann.get(`/v4/diamond/${id}`))['certifications'], [])
})

test.run()
