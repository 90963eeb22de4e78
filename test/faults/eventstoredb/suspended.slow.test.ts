import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { created } from '../../api/harness/stones.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { freeze, thaw } from '../../freeze.ts'
import { withInstallation } from '../serving.ts'
import { until } from '../../until.ts'

/** Milliseconds between keep-alive pings, and for their responses: 10 s each on a real server. */
const KEEP_ALIVE = { intervalMs: 1_000, timeoutMs: 1_000 }

const test = suite('a service on EventStoreDB that is suspended until the server closes its connections')

test('completes the reads and writes that were in progress', async () => {
  const peer = await startPeer()
  const { faults } = peer
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  try {
    await withInstallation(async ({ serve }) => {
      faults.keepAlive = KEEP_ALIVE
      const service = await serve()
      const stones = [await created(service.ann), await created(service.ann), await created(service.ann)]
      const [read = 0, ...changed] = stones.map(({ id }) => id)
      await until('scores', () => stones.every(({ id }) => peer.log.stream(`scores-${id}`) !== undefined))
      faults.appends.push('silent, stored', 'silent, lost')
      const writing = changed.map((id) => service.ann.patch(`/v4/diamond/${id}`, { price: 7 }))
      await until('appends in progress', () => faults.appends.length === 0)
      faults.silentStreamReads = true
      const reading = service.ann.get(`/v4/diamond/${read}/history`)
      await until('a read in progress', () => faults.unansweredStreams.includes(`diamond-${read}`))
      await freeze(service.pid)
      await until('the connections to be closed', () => peer.connections() === 0)
      faults.silentStreamReads = false
      thaw(service.pid)
      const responses = await Promise.all([reading, ...writing])
      assert.equal(
        responses.map(({ status }) => status),
        [200, 200, 200],
      )
      for (const id of changed) assert.is(peer.log.stream(`diamond-${id}`)?.length, 2, 'each change is stored once')
    }, settings)
  } finally {
    await peer.stop()
  }
})

test.run()
