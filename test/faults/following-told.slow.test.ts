import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPeer } from '../eventstoredb/peer/peer.ts'
import { BUILT, startServer } from './server-process.ts'
import { until } from '../until.ts'

const test = suite('a service that only follows the log')

/** Milliseconds in which each subscription has failed again and again. */
const AWAY = 3_000

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
    peer.faults.refusesSubscriptions = true
    await peer.drop()
    await until('a line about the outage', () => entries().length > 0)
    await new Promise<void>((done) => setTimeout(done, AWAY))
    assert.is(entries().length, 1, entries().join('\n'))
    assert.match(entries()[0] ?? '', 'a store is away')
    peer.faults.refusesSubscriptions = false
    await until('a line about its end', () => entries().length > 1)
    assert.match(entries()[1] ?? '', 'the outage is over')
  } finally {
    await service.kill()
    await peer.stop()
    rmSync(dataDir, { recursive: true })
  }
})

test.run()
