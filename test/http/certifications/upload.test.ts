import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { upload } from '../../../src/http/certifications/upload.ts'
import { FormUploads } from '../../../src/http/files/form-uploads.ts'
import { noContent } from '../../../src/http/kit/answer.ts'
import { endpoint } from '../../../src/http/kit/endpoint.ts'
import { platform } from '../../../src/http/kit/errors.ts'
import { koaOf, listenerOf } from '../../../src/http/kit/koa.ts'
import { listen, type Listening } from '../../../src/http/kit/server.ts'
import { openDirectoryFiles } from '../../../src/stores/folder/files.ts'
import type { Files } from '../../../src/stores/ports/files.ts'
import { file, formEnd, formHeaders, partHead } from '../../api/harness/form.ts'

/** A service that takes uploads and keeps none. */
function uploadServer({ files, received }: Given, stall: number): Promise<Listening> {
  const caller = { account: 1, session: 's', client: 'c' }
  const taking = endpoint({
    name: 'upload',
    method: 'POST',
    path: '/upload',
    about: 'Takes an upload.',
    who: { scheme: 'none', refuses: [], admit: () => caller },
    body: upload,
    answers: { 204: 'It was taken' },
    family: platform,
    run({ body }) {
      received.push(Number(body.file !== undefined))
      return noContent()
    },
  })
  const services = { certifications: { uploads: new FormUploads(files, stall) } }
  const listener = listenerOf(koaOf([taking], services, { log: () => undefined, trustProxy: 0 }))
  return listen(() => listener, '127.0.0.1', 0)
}

/** Milliseconds of silence after which a client counts as gone. */
const STALL = 300

type Given = { server: Listening; folder: string; files: Files; received: number[] }

const test = suite<Given>('the upload of a form')

test.before.each(async (given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-upload-'))
  given.files = openDirectoryFiles(given.folder)
  given.received = []
  given.server = await uploadServer(given, STALL)
})
test.after.each(async ({ server, folder, files }) => {
  await server.stop()
  await files.close()
  rmSync(folder, { recursive: true })
})

const HEAD = partHead(file(''))
const START = Buffer.from('%PDF-1.7\n')
const END = Buffer.concat([Buffer.from('\n%%EOF\r\n'), formEnd])

/** Sends the head of a request and the start of its file, and says that there is more to come. */
async function begin({ server }: Given, length: number): Promise<Socket> {
  const socket = connect(server.port, server.host)
  await new Promise<void>((done) => socket.once('connect', done))
  const type = `Content-Type: ${formHeaders['Content-Type']}`
  socket.write(`POST /upload HTTP/1.1\r\nHost: localhost\r\n${type}\r\nContent-Length: ${length}\r\n\r\n`)
  socket.write(Buffer.concat([HEAD, START]))
  return socket
}

function answerOf(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let answer = ''
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
      if (answer.startsWith('HTTP/1.1 204')) socket.destroy()
    })
    socket.on('close', () => done(answer))
  })
}

const incoming = ({ folder }: Given) => readdirSync(join(folder, 'incoming'))

test('whose client falls silent is answered 408 and leaves nothing', async (given) => {
  const socket = await begin(given, 1_000_000)
  const answer = await answerOf(socket)
  assert.match(answer, /^HTTP\/1\.1 408 /)
  assert.match(answer, /X-App-Version: /i)
  assert.match(answer, /"error":\["Nothing more of the body came within 0.3 s"\]/)
  assert.equal(incoming(given), [])
  assert.equal(given.received, [])
})

test('that comes slowly but steadily is taken', async (given) => {
  const dots = 6
  const socket = await begin(given, HEAD.length + START.length + dots + END.length)
  for (let sent = 0; sent < dots; sent++) {
    await new Promise((done) => setTimeout(done, STALL / 3))
    socket.write('.')
  }
  const answer = answerOf(socket)
  socket.write(END)
  assert.match(await answer, /^HTTP\/1\.1 204 /)
  assert.equal(given.received, [1])
})

test('is not held up by clients that have fallen silent, and of them each goes on when it sends again', async (given) => {
  const patient = { ...given, server: await uploadServer(given, 60_000) }
  const length = HEAD.length + START.length + END.length
  const silent = await Promise.all(Array.from({ length: 20 }, () => begin(patient, length)))
  const last = await begin(patient, length)
  const answer = answerOf(last)
  last.write(END)
  assert.match(await answer, /^HTTP\/1\.1 204 /)
  assert.equal(given.received, [1])
  const answers = silent.map(answerOf)
  for (const socket of silent) socket.write(END)
  for (const late of await Promise.all(answers)) assert.match(late, /^HTTP\/1\.1 204 /)
  assert.is(given.received.length, 21)
  await patient.server.stop()
})

test('that waits for its turn is not taken for silent', async (given) => {
  const bodies = Array.from({ length: 30 }, () => Buffer.alloc(300_000, '.'))
  const slow = given.files.receive.bind(given.files)
  given.files.receive = async () => {
    const file = await slow()
    return {
      write: async (chunk) => {
        await new Promise((done) => setTimeout(done, 50))
        await file.write(chunk)
      },
      keep: () => file.keep(),
      discard: () => file.discard(),
    }
  }
  const started = performance.now()
  const answers = bodies.map(async (body) => {
    const socket = await begin(given, HEAD.length + START.length + body.length + END.length)
    const answer = answerOf(socket)
    socket.write(Buffer.concat([body, END]))
    return answer
  })
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 204 /)
  assert.ok(performance.now() - started > STALL, 'nobody had to wait for longer than silence may last')
})

test('leaves nothing where the step behind it did not keep the file', async (given) => {
  const socket = await begin(given, HEAD.length + START.length + END.length)
  const answer = answerOf(socket)
  socket.write(END)
  assert.match(await answer, /^HTTP\/1\.1 204 /)
  assert.equal(incoming(given), [])
})

test('is not read faster than its file is written', async (given) => {
  let written = 0
  let release = () => {}
  const blocked = new Promise<void>((done) => (release = done))
  const receive = given.files.receive.bind(given.files)
  given.files.receive = async () => {
    const file = await receive()
    return {
      write: async (chunk) => {
        written += chunk.length
        await blocked
        await file.write(chunk)
      },
      keep: () => file.keep(),
      discard: () => file.discard(),
    }
  }
  const bytes = 8 * 1024 * 1024
  const socket = await begin(given, HEAD.length + START.length + bytes + END.length)
  const answer = answerOf(socket)
  let sent = false
  socket.write(Buffer.alloc(bytes, '.'), () => (sent = true))
  await new Promise((done) => setTimeout(done, STALL * 3))
  assert.not(sent, 'the whole file was read while nothing was written')
  assert.ok(written <= 65_536, `${written} bytes are waiting to be written`)
  release()
  socket.write(END)
  assert.match(await answer, /^HTTP\/1\.1 204 /)
})

test.run()
