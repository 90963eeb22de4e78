import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import type { Vendor } from '../harness/account.ts'
import { attached, file, formHeaders, partHead, smallPdf } from '../harness/form.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite('an upload')

/** Milliseconds between two bytes: shorter than the silence after which a turn is over. */
const DRIP = 20

/** An upload of which a byte comes now and then. @returns its connection; the drip ends with it */
async function trickling({ url }: Service, { token }: Vendor): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done))
  const headers = { Host: 'localhost', Authorization: `Bearer ${token}`, 'Content-Length': '9000000', ...formHeaders }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /v4/certification HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.write(Buffer.concat([partHead(file('')), Buffer.from('%PDF-1.7\n')]))
  const drip = setInterval(() => socket.write('.'), DRIP)
  socket.once('close', () => clearInterval(drip))
  return socket
}

for (const count of [8, 40]) {
  test(`is taken at once beside ${count} that trickle, of another account at the same address`, async (given) => {
    const { service, ann, bob } = given
    const { id } = await created(ann)
    const slow = await Promise.all(Array.from({ length: count }, () => trickling(service, bob)))
    // They all have had a turn, or wait for one.
    await new Promise((done) => setTimeout(done, 500))
    const started = performance.now()
    for (let upload = 0; upload < 3; upload++) await attached(ann, id, smallPdf(1_000_000))
    const seconds = (performance.now() - started) / 1000
    for (const socket of slow) socket.destroy()
    assert.ok(seconds < 8, `three uploads took ${seconds} s`)
  })
}

test.run()
