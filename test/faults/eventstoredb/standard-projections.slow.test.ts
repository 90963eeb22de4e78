import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { startService } from '../../api/harness/service.ts'
import { created, list } from '../../api/harness/stones.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'

/** Number of link events that the standard projections write for a log of some 20,000 events. */
const LINKS = 67_000
const BATCH = 1_000

const test = suite('a service on EventStoreDB with newly enabled standard projections')

test('works, and can be restarted, without any other append', async () => {
  const peer = await startPeer()
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-links-'))
  const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  try {
    const first = await startService({ settings, dataDir })
    const { id } = await created(first.ann, { sku: 'BEFORE' })
    switchOn(peer)
    assert.equal(await listed(first.ann), [id])
    await first.stop()
    const { log } = peer
    const before = log.all.length
    // The service must be ready before the harness registers accounts, which would append.
    const second = await startService({
      settings,
      dataDir,
      store: (store) => (assert.is(log.all.length, before), store),
    })
    const other = await created(second.ann, { sku: 'AFTER' })
    assert.equal(await listed(second.ann), [other.id])
    await second.stop()
  } finally {
    await peer.stop()
    rmSync(dataDir, { recursive: true })
  }
})

const listed = async (vendor: Parameters<typeof created>[0]) =>
  list(expect(200, await vendor.get('/v4/diamond'))).map(({ id }) => id)

function switchOn({ log }: Peer): void {
  for (let links = 0; links < LINKS; links += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, index) => ({
      id: randomUUID(),
      type: '$>',
      contentType: 'application/octet-stream',
      data: Buffer.from(`${links + index}@diamond-1`),
      metadata: Buffer.of(),
    }))
    log.append('$et-DiamondCreated', 'any', batch)
  }
}

test.run()
