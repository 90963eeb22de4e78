import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, shared, type Sender } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { created, stone } from '../api/harness/stones.ts'
import { startPeerProcess, type PeerProcess } from '../eventstoredb/peer-process.ts'
import { PORTS, withOutage, type Outage, type PortName } from './outage.ts'
import { withInstallation, type Installed, type Serving } from './serving.ts'
import { pause } from '../until.ts'

const test = suite('a service that is asked to stop in the middle of an outage')

/** Milliseconds that a stop may take, whatever is away. */
const STOP = 10_000
/** Milliseconds in which each work that is done every few seconds has met the outage. */
const MET = 1_500

/** Leaves something to do for each work: to project, to score, to read, to collect, to mail, to expire. */
async function givesWork({ url, ann }: Service, sender: Sender): Promise<void> {
  await shared(url, sender, { secret: 'read', notify: 'true', recipient: 'tom@example.com' })
  await shared(url, sender, { secret: 'expires', ttl: '60' })
  const { id } = await created(ann)
  const certification = await attached(ann, id)
  expect(204, await ann.remove(`/v4/certification/${certification.id}`))
}

/** @returns how long the stop took */
async function stopMeanwhile(port: PortName, fault: 'away' | 'hangs'): Promise<number> {
  const outage: Outage = { fault: 'none' }
  const time = { ahead: 0 }
  let really = async () => {}
  const service = await startService({
    scored: true,
    clock: () => Date.now() + time.ahead,
    installation(opened) {
      really = () => opened.close()
      return withOutage(opened, port, outage)
    },
  })
  const sender = await newSender(service.installation)
  await givesWork(service, sender)
  outage.fault = fault
  if (port === 'mail') await shared(service.url, sender, { secret: 'x', recipient: 'tom@example.com' })
  time.ahead = 120_000
  const underWay = service.ann.post('/v4/diamond', stone()).catch(() => undefined)
  await pause(MET)
  const asked = performance.now()
  await service.stop()
  const took = performance.now() - asked
  await underWay
  await really()
  return took
}

for (const fault of ['away', 'hangs'] as const) {
  test(`(a port ${fault}) ends within 10 s, whichever it is`, async () => {
    const took = await Promise.all(PORTS.map(async (port) => [port, await stopMeanwhile(port, fault)] as const))
    for (const [port, milliseconds] of took) assert.ok(milliseconds < STOP, `${port}: ${milliseconds} ms`)
  })
}

/** The program on a store's server, which gets into trouble. @returns how long the stop took */
async function endMeanwhile(trouble: (peer: PeerProcess) => Promise<void>): Promise<number> {
  const peer = await startPeerProcess()
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  let took = 0
  try {
    await withInstallation(async ({ serve }) => {
      const service = await serve()
      await created(service.ann)
      await trouble(peer)
      const underWay = service.ann.post('/v4/diamond', stone()).catch(() => undefined)
      await pause(MET)
      took = await timeToEnd(service)
      await underWay
    }, settings)
  } finally {
    peer.thaw()
    await peer.stop()
  }
  return took
}

/** The program while a mail server, which says nothing, has a mail. @returns how long the stop took */
async function endWhileMailing(): Promise<number> {
  const silent = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const { port } = silent.address() as AddressInfo
  let took = 0
  const run = async ({ serve, dataDir }: Installed) => {
    const setUp = await startService({ dataDir, settings: { ROLES: 'http' } })
    const sender = await newSender(setUp.installation)
    await shared(setUp.url, sender, { secret: 'x', recipient: 'tom@example.com' })
    await setUp.stop()
    const service = await serve()
    await pause(MET)
    took = await timeToEnd(service)
  }
  try {
    await withInstallation(run, { MAILER: `smtp://127.0.0.1:${port}` })
  } finally {
    silent.close()
  }
  return took
}

async function timeToEnd(service: Serving): Promise<number> {
  const asked = performance.now()
  assert.is(await service.stop(), 0, service.said())
  return performance.now() - asked
}

test('ends with 0, and its process within a second more, whichever server hangs or is gone', async () => {
  const all = [endMeanwhile((peer) => peer.freeze()), endMeanwhile((peer) => peer.down()), endWhileMailing()]
  for (const milliseconds of await Promise.all(all)) assert.ok(milliseconds < STOP + 1_000, `${milliseconds} ms`)
})

test.run()
