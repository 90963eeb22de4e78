import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { certificationUpload } from '../../../src/http/certifications/upload.ts'
import { FormUploads } from '../../../src/http/files/form-uploads.ts'
import { noContent } from '../../../src/http/kit/response.ts'
import { endpoint } from '../../../src/http/kit/endpoint.ts'
import { platformGroup } from '../../../src/http/kit/errors.ts'
import { createApp } from '../../../src/http/app.ts'
import { listen, type ListeningServer } from '../../../src/http/kit/server.ts'
import type { MinimumTransferRate } from '../../../src/runtime/fairness/transfer-rate.ts'
import { openDirectoryFileStore } from '../../../src/stores/folder/files.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import { file, formEnd, formHeaders, partHead } from '../../api/harness/form.ts'
import { withFakeTime } from '../../fake-time.ts'
import { waitFor, until } from '../../until.ts'

/** A service that accepts uploads and stores none. */
function uploadServer(
  { files, received, requests }: Given,
  minTransferRate: MinimumTransferRate,
): Promise<ListeningServer> {
  const taking = endpoint({
    operationId: 'upload',
    method: 'POST',
    path: '/upload',
    summary: 'Takes an upload.',
    auth: {
      scheme: 'none',
      errorStatuses: [],
      authenticate: ({ headers }) => ({ account: Number(headers['x-account']), session: 's', client: 'c' }),
    },
    body: certificationUpload,
    responses: { 204: 'It was taken' },
    group: platformGroup,
    handler({ request }) {
      received.push(Number(request.body.file !== undefined))
      return noContent()
    },
  })
  const services = { certifications: { uploads: new FormUploads(files) } }
  const options = { log: () => undefined, trustProxy: 0, bodies: { minTransferRate } }
  const listener = createApp([taking], services, options).callback()
  return listen(
    (req, res) => {
      requests.push(req)
      listener(req, res)
    },
    { host: '127.0.0.1', port: 0 },
  )
}

/** For tests that are not about the minimum transfer rate. */
const NO_MIN_RATE: MinimumTransferRate = { bytes: 0, milliseconds: 3_600_000 }

/** The minimum transfer rate of a body. */
const MIN_RATE: MinimumTransferRate = { bytes: 1024, milliseconds: 300 }

type Given = {
  server: ListeningServer
  folder: string
  files: FileStore
  received: number[]
  /** The requests that the server has received. */
  requests: IncomingMessage[]
}

const test = suite<Given>('a form upload')

test.before.each(async (given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-upload-'))
  given.files = openDirectoryFileStore(given.folder)
  given.received = []
  given.requests = []
  given.server = await uploadServer(given, MIN_RATE)
})
test.after.each(async ({ server, folder, files }) => {
  await server.stop()
  await files.close()
  rmSync(folder, { recursive: true })
})

const HEAD = partHead(file(''))
const START = Buffer.from('%PDF-1.7\n')
const END = Buffer.concat([Buffer.from('\n%%EOF\r\n'), formEnd])

/** Sends the headers of a request and the start of its file. */
async function begin({ server }: Given, length: number, account = 1): Promise<Socket> {
  const socket = connect(server.port, server.host)
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done))
  const type = `Content-Type: ${formHeaders['Content-Type']}`
  const lines = ['POST /upload HTTP/1.1', 'Host: a', `X-Account: ${account}`, type, `Content-Length: ${length}`]
  socket.write([...lines, '', ''].join('\r\n'))
  socket.write(Buffer.concat([HEAD, START]))
  return socket
}

function readResponse(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let response = ''
    socket.on('data', (chunk: Buffer) => {
      response += chunk.toString()
      if (response.startsWith('HTTP/1.1 204')) socket.destroy()
    })
    socket.on('close', () => done(response))
  })
}

const incoming = ({ folder }: Given) => readdirSync(join(folder, 'incoming'))

test('whose client stalls gets 408 and leaves no file', async (given) => {
  const socket = await begin(given, 1_000_000)
  const response = await readResponse(socket)
  assert.match(response, /^HTTP\/1\.1 408 /)
  assert.match(response, /X-App-Version: /i)
  assert.match(response, /"error":\["Received less than 1 KiB of the body within 0.3 s"\]/)
  assert.equal(incoming(given), [])
  assert.equal(given.received, [])
})

test('that is slow but steady is accepted', (given) =>
  withFakeTime(async (time) => {
    const pieces = 12
    const piece = '.'.repeat(256)
    const socket = await begin(given, HEAD.length + START.length + pieces * piece.length + END.length)
    const response = readResponse(socket)
    for (let sent = 0; sent < pieces; sent++) {
      await until('all sent bytes to arrive', () => given.requests[0]?.socket.bytesRead === socket.bytesWritten)
      await time.advance(MIN_RATE.milliseconds / 6)
      socket.write(piece)
    }
    socket.write(END)
    assert.match(await response, /^HTTP\/1\.1 204 /)
    assert.equal(given.received, [1])
  }))

test('is not delayed by stalled clients, and a stalled upload resumes when its client sends again', async (given) => {
  const patient = { ...given, server: await uploadServer(given, NO_MIN_RATE) }
  const length = HEAD.length + START.length + END.length
  const silent = await Promise.all(Array.from({ length: 20 }, () => begin(patient, length)))
  const last = await begin(patient, length)
  const response = readResponse(last)
  last.write(END)
  assert.match(await response, /^HTTP\/1\.1 204 /)
  assert.equal(given.received, [1])
  const responses = silent.map(readResponse)
  for (const socket of silent) socket.write(END)
  for (const late of await Promise.all(responses)) assert.match(late, /^HTTP\/1\.1 204 /)
  assert.is(given.received.length, 21)
  await patient.server.stop()
})

/** Blocks all writes to files until it is released. */
function blockWrites({ files }: Given) {
  const released = Promise.withResolvers<void>()
  const blocked = { bytes: 0, release: released.resolve }
  const receive = files.receive.bind(files)
  files.receive = async () => {
    const file = await receive()
    return {
      write: async (chunk) => {
        blocked.bytes += chunk.length
        await released.promise
        await file.write(chunk)
      },
      keep: () => file.keep(),
      discard: () => file.discard(),
    }
  }
  return blocked
}

test('that waits for its turn or for the disk does not count as stalled', (given) =>
  withFakeTime(async (time) => {
    const blocked = blockWrites(given)
    // More than the limit of concurrent uploads.
    const bodies = Array.from({ length: 12 }, () => Buffer.alloc(300_000, '.'))
    let answered = 0
    const responses = bodies.map(async (body) => {
      const socket = await begin(given, HEAD.length + START.length + body.length + END.length)
      const response = readResponse(socket).finally(() => answered++)
      socket.write(Buffer.concat([body, END]))
      return response
    })
    const { requests } = given
    await until('all uploads to pause', () => requests.length === 12 && requests.every((request) => request.isPaused()))
    await time.advance(MIN_RATE.milliseconds * 3)
    assert.is(answered, 0)
    blocked.release()
    for (const response of await Promise.all(responses)) assert.match(response, /^HTTP\/1\.1 204 /)
  }))

/** An upload that sends a byte every 20 ms, so that it never counts as stalled. */
async function trickle(given: Given, account: number): Promise<Socket> {
  const socket = await begin(given, 9_000_000, account)
  const drip = setInterval(() => socket.write('.'), 20)
  socket.once('close', () => clearInterval(drip))
  return socket
}

for (const count of [8, 40]) {
  test(`is accepted alongside ${count} endless slow uploads of another account at the same address`, async (given) => {
    const patient = { ...given, server: await uploadServer(given, NO_MIN_RATE) }
    const slow = await Promise.all(Array.from({ length: count }, () => trickle(patient, 2)))
    await until('all slow uploads to start', () => given.requests.length === count)
    for (let upload = 0; upload < 3; upload++) {
      const body = Buffer.alloc(1_000_000, '.')
      const socket = await begin(patient, HEAD.length + START.length + body.length + END.length)
      const response = readResponse(socket)
      socket.write(Buffer.concat([body, END]))
      assert.match(await waitFor('the response to an upload alongside slow ones', response), /^HTTP\/1\.1 204 /)
    }
    assert.is(given.received.length, 3)
    for (const socket of slow) socket.destroy()
    await patient.server.stop()
  })
}

test('leaves no file if the handler does not keep it', async (given) => {
  const socket = await begin(given, HEAD.length + START.length + END.length)
  const response = readResponse(socket)
  socket.write(END)
  assert.match(await response, /^HTTP\/1\.1 204 /)
  assert.equal(incoming(given), [])
})

test('is not read faster than its file is written', async (given) => {
  const blocked = blockWrites(given)
  const bytes = 8 * 1024 * 1024
  const socket = await begin(given, HEAD.length + START.length + bytes + END.length)
  const response = readResponse(socket)
  socket.write(Buffer.alloc(bytes, '.'))
  await until('the upload to pause', () => given.requests[0]?.isPaused() === true)
  assert.ok(blocked.bytes <= 65_536, `${blocked.bytes} bytes are waiting to be written`)
  const read = given.requests[0]?.socket.bytesRead ?? 0
  assert.ok(read < bytes / 4, `${read} bytes were read while nothing was written`)
  blocked.release()
  socket.write(END)
  assert.match(await response, /^HTTP\/1\.1 204 /)
})

test.run()
