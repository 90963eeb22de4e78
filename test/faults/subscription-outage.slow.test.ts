import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { BUILT, startServer } from './server-process.ts'
import { until } from '../until.ts'

const test = suite('a service that only projects')

/** Number of denied subscriptions, none of which is logged again. */
const REFUSED = 6

test('logs the beginning and the end of an outage of its subscription, once each', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-following-'))
  const peer = await startPeer()
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'info' }
  const service = await startServer(dataDir, { ...settings, ROLES: 'projections' }, BUILT)
  const entries = () =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('EventStoreDB'))
  try {
    assert.equal(entries(), [])
    // Reads and writes still work, so only the subscription can notice the outage.
    const { refused, over: end } = refuseSubscriptions(peer)
    peer.drop()
    await until('subscriptions to be refused', () => refused() >= REFUSED)
    await until('a line about the outage', () => entries().length > 0)
    end()
    await until('a line about its end', () => entries().some((line) => line.includes('the outage is over')))
    const [first = '', ...others] = entries()
    assert.match(first, 'a store is unavailable')
    // On a slow machine the outage may last a minute, after which it is logged again.
    const repeated = others.filter((line) => !/a store is still unavailable|the outage is over/.test(line))
    assert.equal(repeated, [])
  } finally {
    await service.kill()
    await peer.stop()
    rmSync(dataDir, { recursive: true })
  }
})

function refuseSubscriptions({ faults }: Peer) {
  let refused = 0
  let isOver = false
  Object.defineProperty(faults, 'refusesSubscriptions', {
    get() {
      if (!isOver) refused++
      return !isOver
    },
  })
  return { refused: () => refused, over: () => void (isOver = true) }
}

test.run()
