import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, shared, type Sender } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { created, stone } from '../api/harness/stones.ts'
import { startPeerProcess, type PeerProcess } from '../eventstoredb/peer-process.ts'
import { PORTS, withOutage, type Outage, type PortName } from './outage.ts'
import { withInstallation, type Installed } from './serving.ts'
import { pause } from '../until.ts'

const test = suite('a service that is asked to stop in the middle of an outage')

/** Milliseconds after which a stop counts as hanging: each stage has a deadline of its own (wiring/open-parts). */
const HANGING = 120_000
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

async function stopMeanwhile(port: PortName, fault: 'away' | 'hangs'): Promise<void> {
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
  await ends(`the stop while ${port} ${fault}`, service.stop())
  await underWay
  await really()
}

/** @throws Error with what it is about when it does not end */
async function ends<Value>(what: string, ending: Promise<Value>): Promise<Value> {
  const timer = new AbortController()
  const late = setTimeout(HANGING, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} did not end`)
  })
  late.catch(() => undefined)
  return Promise.race([ending, late]).finally(() => timer.abort())
}

for (const fault of ['away', 'hangs'] as const) {
  test(`(a port ${fault}) stops, whichever it is`, async () => {
    await Promise.all(PORTS.map((port) => stopMeanwhile(port, fault)))
  })
}

/** The program on a store's server, which gets into trouble. @returns its exit code */
async function endMeanwhile(trouble: (peer: PeerProcess) => Promise<void>): Promise<number | null> {
  const peer = await startPeerProcess()
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  let code: number | null = null
  try {
    await withInstallation(async ({ serve }) => {
      const service = await serve()
      await created(service.ann)
      await trouble(peer)
      const underWay = service.ann.post('/v4/diamond', stone()).catch(() => undefined)
      await pause(MET)
      code = await ends('the program', service.stop())
      await underWay
    }, settings)
  } finally {
    peer.thaw()
    await peer.stop()
  }
  return code
}

/** The program while a mail server, which says nothing, has a mail. @returns its exit code */
async function endWhileMailing(): Promise<number | null> {
  const silent = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const { port } = silent.address() as AddressInfo
  let code: number | null = null
  const run = async ({ serve, dataDir }: Installed) => {
    const setUp = await startService({ dataDir, settings: { ROLES: 'http' } })
    const sender = await newSender(setUp.installation)
    await shared(setUp.url, sender, { secret: 'x', recipient: 'tom@example.com' })
    await setUp.stop()
    const service = await serve()
    await pause(MET)
    code = await ends('the program', service.stop())
  }
  try {
    await withInstallation(run, { MAILER: `smtp://127.0.0.1:${port}` })
  } finally {
    silent.close()
  }
  return code
}

test('ends its process with 0, whichever server hangs or is gone', async () => {
  const all = [endMeanwhile((peer) => peer.freeze()), endMeanwhile((peer) => peer.down()), endWhileMailing()]
  assert.equal(await Promise.all(all), [0, 0, 0])
})

test.run()
