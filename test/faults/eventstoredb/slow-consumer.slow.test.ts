import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReadModelBuild, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { expect } from '../../api/harness/request.ts'
import { startService } from '../../api/harness/service.ts'
import { list, stone } from '../../api/harness/stones.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { mongoServer } from '../../mongo-server.ts'
import { everyDiamond } from '../serving.ts'
import { until } from '../../until.ts'

const mongo = await mongoServer('a slow projection')
console.log("NOTE: a slow projection: on EventStoreDB's peer")

const BULKS = 4
const BULK = 100

const test = suite('a service on EventStoreDB and MongoDB whose projection is slow')

test('accepts writes, reports lists as pending, and loses nothing', async () => {
  const peer = await startPeer()
  const database = mongo?.newDatabase() ?? ''
  const engines = { EVENT_STORE: peer.url, READ_MODEL: database, MASTER_KEY: randomBytes(32).toString('base64') }
  const gate: Gate = { open: Promise.resolve() }
  const service = await startService({ settings: engines, reads: (reads) => slowed(reads, gate) })
  try {
    const { ann } = service
    let open = () => {}
    gate.open = new Promise((done) => (open = done))
    const ids: number[] = []
    for (let bulk = 0; bulk < BULKS; bulk++) {
      const entries = Array.from({ length: BULK }, (_, n) => stone({ sku: `${bulk}/${n}` }))
      const response = expect(201, await ann.post('/v4/diamond/bulk', { entries }))
      assert.is(response.headers['x-consistency'], 'pending')
      ids.push(...list(response).map(({ id }) => id))
      // This stone is read from the log, because the read model does not have it yet.
      expect(200, await ann.get(`/v4/diamond/${ids.at(-1)}`))
    }
    open()
    await until('current lists', async () => (await ann.get('/v4/diamond')).headers['x-consistency'] === undefined)
    const { total, diamonds } = await everyDiamond(ann, 'v4')
    assert.is(total, ids.length)
    assert.equal(diamonds.map(({ id }) => id).toSorted(), ids.toSorted())
  } finally {
    await service.stop()
    await peer.stop()
    await mongo?.drop(database)
  }
})

/** Batches wait until `open` resolves. */
type Gate = { open: Promise<void> }

/** Wraps a read store whose batches wait for the gate. */
function slowed(reads: ReadStore, gate: Gate): ReadStore {
  const slow = (build: ReadModelBuild): ReadModelBuild => ({
    ...build,
    async write(...batch) {
      await gate.open
      await build.write(...batch)
    },
  })
  return {
    ...reads,
    live: async (declaration) => slow(await reads.live(declaration)),
    begin: async (declaration) => slow(await reads.begin(declaration)),
  }
}

if (mongo !== undefined) test.run()
