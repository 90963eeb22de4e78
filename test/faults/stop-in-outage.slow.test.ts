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
import { withInstallation, type TestInstallation } from './serving.ts'
import { waitFor, until } from '../until.ts'

const test = suite('a service that is stopped during an outage')

/** Calls of a port that must fail before the stop. */
const FAILED_CALLS = 1

/** Creates something to do for each background job: projecting, scoring, mailing, expiring, ... @returns the id of a stone */
async function createWork({ url, ann }: Service, sender: Sender): Promise<number> {
  await shared(url, sender, { secret: 'read', notify: 'true', recipient: 'tom@example.com' })
  await shared(url, sender, { secret: 'expires', ttl: '60' })
  const { id } = await created(ann)
  const certification = await attached(ann, id)
  expect(204, await ann.remove(`/v4/certification/${certification.id}`))
  return id
}

/** Stops a service while one of its ports fails. */
async function stopDuringOutage(port: PortName, fault: 'unavailable' | 'hangs'): Promise<void> {
  const outage: Outage = { fault: 'none', failedCalls: 0 }
  const time = { ahead: 0 }
  let closeInstallation = async () => {}
  const service = await startService({
    scored: true,
    clock: () => Date.now() + time.ahead,
    installation(opened) {
      closeInstallation = () => opened.close()
      return withOutage(opened, port, outage)
    },
  })
  const sender = await newSender(service.installation)
  const id = await createWork(service, sender)
  outage.fault = fault
  if (port === 'mail') await shared(service.url, sender, { secret: 'x', recipient: 'tom@example.com' })
  time.ahead = 120_000
  const requests = Promise.allSettled([
    service.ann.post('/v4/diamond', stone()),
    upload(service.ann, [text('product', id), text('laboratory', 'GIA'), file(smallPdf(1_000))]),
  ])
  await until(`calls while ${port} ${fault}`, () => outage.failedCalls >= FAILED_CALLS)
  await waitFor(`the end of the stop while ${port} ${fault}`, service.stop())
  await requests
  await closeInstallation()
}

for (const fault of ['unavailable', 'hangs'] as const) {
  test(`(a port ${fault === 'hangs' ? 'hangs' : 'is unavailable'}) stops, whichever port it is`, async () => {
    await Promise.all(PORTS.map((port) => stopDuringOutage(port, fault)))
  })
}

/** Stops a service process while its EventStoreDB fails. @returns its exit code */
async function exitCodeDuringOutage(fail: (peer: PeerProcess) => Promise<void>): Promise<number | null> {
  const peer = await startPeerProcess()
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  let code: number | null = null
  try {
    await withInstallation(async ({ serve }) => {
      const service = await serve()
      await created(service.ann)
      await fail(peer)
      const request = service.ann.post('/v4/diamond', stone()).catch(() => undefined)
      await until('the outage to be noticed', () => service.output().includes('a store is unavailable'))
      code = await waitFor('the end of the program', service.stop())
      await request
    }, settings)
  } finally {
    peer.thaw()
    await peer.stop()
  }
  return code
}

/** Stops a service process while it waits for a silent mail server. @returns its exit code */
async function exitCodeWhileMailing(): Promise<number | null> {
  const silent = createServer((socket) => void socket.on('error', () => {}))
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const { port } = silent.address() as AddressInfo
  let code: number | null = null
  const run = async ({ serve, dataDir }: TestInstallation) => {
    const setUp = await startService({ dataDir, settings: { ROLES: 'http' } })
    const sender = await newSender(setUp.installation)
    await shared(setUp.url, sender, { secret: 'x', recipient: 'tom@example.com' })
    await setUp.stop()
    const connection = once(silent, 'connection')
    const service = await serve()
    await waitFor('a mail', connection)
    code = await waitFor('the end of the program', service.stop())
  }
  try {
    await withInstallation(run, { MAILER: `smtp://127.0.0.1:${port}` })
  } finally {
    silent.close()
  }
  return code
}

test('exits with 0, whichever server hangs or is unavailable', async () => {
  const codes = [
    exitCodeDuringOutage((peer) => peer.freeze()),
    exitCodeDuringOutage((peer) => peer.down()),
    exitCodeWhileMailing(),
  ]
  assert.equal(await Promise.all(codes), [0, 0, 0])
})

test.run()
