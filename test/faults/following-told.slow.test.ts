import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { BUILT, startServer } from './server-process.ts'
import { until } from '../until.ts'

const test = suite('a service that only follows the log')

/** Refusals of subscriptions, each of which would be a line. */
const REFUSED = 6

test('says so when it may not follow any more, though nobody asks it for anything, and does not repeat itself', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-following-'))
  const peer = await startPeer()
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'info' }
  const service = await startServer(dataDir, { ...settings, ROLES: 'projections' }, BUILT)
  const entries = () =>
    service
      .said()
      .split('\n')
      .filter((line) => line.includes('EventStoreDB'))
  try {
    assert.equal(entries(), [])
    // Reads and writes are answered all the while: nothing else has anything to tell.
    const { refused, over } = refuseSubscriptions(peer)
    peer.drop()
    await until('subscriptions to be refused', () => refused() >= REFUSED)
    await until('a line about the outage', () => entries().length > 0)
    over()
    await until('a line about its end', () => entries().some((line) => line.includes('the outage is over')))
    const [first = '', ...others] = entries()
    assert.match(first, 'a store is unavailable')
    // On a slow machine it may have lasted a minute, after which it is told of again.
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
