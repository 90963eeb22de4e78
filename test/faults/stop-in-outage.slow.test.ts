import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached, file, smallPdf, text, upload } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, shared, type Sender } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { created, stone } from '../api/harness/stones.ts'
import { startPeerProcess, type PeerProcess } from '../eventstoredb/peer-process.ts'
import { PORTS, withOutage, type Outage, type PortName } from './outage.ts'
import { withInstallation, type Installed } from './serving.ts'
import { comes, until } from '../until.ts'

const test = suite('a service that is asked to stop in the middle of an outage')

/** Calls of a port that meet its outage before the stop. */
const MET = 1

/** Leaves something to do for each work: to project, to score, to read, to collect, to mail, to expire. @returns a stone */
async function givesWork({ url, ann }: Service, sender: Sender): Promise<number> {
  await shared(url, sender, { secret: 'read', notify: 'true', recipient: 'tom@example.com' })
  await shared(url, sender, { secret: 'expires', ttl: '60' })
  const { id } = await created(ann)
  const certification = await attached(ann, id)
  expect(204, await ann.remove(`/v4/certification/${certification.id}`))
  return id
}

async function stopMeanwhile(port: PortName, fault: 'away' | 'hangs'): Promise<void> {
  const outage: Outage = { fault: 'none', met: 0 }
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
  const id = await givesWork(service, sender)
  outage.fault = fault
  if (port === 'mail') await shared(service.url, sender, { secret: 'x', recipient: 'tom@example.com' })
  time.ahead = 120_000
  const underWay = Promise.allSettled([
    service.ann.post('/v4/diamond', stone()),
    upload(service.ann, [text('product', id), text('laboratory', 'GIA'), file(smallPdf(1_000))]),
  ])
  await until(`calls while ${port} ${fault}`, () => outage.met >= MET)
  await comes(`the end of the stop while ${port} ${fault}`, service.stop())
  await underWay
  await really()
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
      await until('the outage to be noticed', () => service.said().includes('a store is unavailable'))
      code = await comes('the end of the program', service.stop())
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
    const connection = once(silent, 'connection')
    const service = await serve()
    await comes('a mail', connection)
    code = await comes('the end of the program', service.stop())
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
