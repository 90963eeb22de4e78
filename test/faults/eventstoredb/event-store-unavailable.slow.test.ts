import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { expect, refusal } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import type { PeerProcess } from '../../eventstoredb/peer-process.ts'
import { newCreateResults, repeatOpen, createUntil, type CreateResults } from '../create-requests.ts'
import { assertCreatedOnce } from './created-once.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const CLIENTS = 4

const mongo = await findServers('an unavailable event store')
const test = suite('an installation of several processes')

const outages: [what: string, begin: (peer: PeerProcess) => unknown, end: (peer: PeerProcess) => unknown][] = [
  ['hangs and continues', (peer) => peer.freeze(), (peer) => peer.thaw()],
  ['goes down and comes back', (peer) => peer.down(), (peer) => peer.up()],
]
for (const [description, begin, end] of outages) {
  test(`rejects writes while its event store ${description}, loses and duplicates nothing, and recovers automatically`, () =>
    withServers(mongo, async ({ peer, serve, log }) => {
      const projecting = await serve({ ROLES: 'projections' })
      const webs = await Promise.all([serve({ ROLES: 'http' }), serve({ ROLES: 'http' })])
      const [{ ann }] = webs
      const results = newCreateResults()
      let isOver = false
      const clients = Array.from({ length: CLIENTS }, (_, n) =>
        createUntil((webs[n % webs.length] ?? webs[0]).ann, `${n}`, results, () => isOver),
      )
      await until('some stones', () => results.acknowledged.size > 30)
      await begin(peer)
      await assertWritesRejected(ann, results)
      await end(peer)
      const before = results.acknowledged.size
      await until('further stones', () => results.acknowledged.size > before + 30)
      isOver = true
      await Promise.all(clients)
      assert.equal(results.connectionErrors, [], 'a request got no response')
      await repeatOpen(ann, results)
      await assertCreatedOnce(log, ann, results)
      assert.equal(await Promise.all([projecting, ...webs].map((each) => each.stop())), [0, 0, 0])
    }))
}

/** Asserts that writes are rejected with Retry-After and reads are stale. */
async function assertWritesRejected(ann: Vendor, results: CreateResults): Promise<void> {
  await until('each client to get a 503', () => results.unavailableResponses >= CLIENTS)
  // One process may have rejected all these requests before the other one noticed the outage.
  await until('a stale read', async () => (await ann.get('/v4/diamond')).headers['x-consistency'] === 'stale')
  const responses = await Promise.all([
    ann.post('/v4/diamond', stone({ sku: 'never' })),
    ann.patch('/v4/diamond/1', { price: 1 }),
    ann.remove('/v4/diamond/1'),
  ])
  for (const response of responses) {
    refusal(503, response)
    assert.ok(Number(response.headers['retry-after']) > 0)
  }
  const [id] = results.acknowledged.values()
  for (const path of ['/v4/diamond', `/v4/diamond/${id}`]) {
    assert.is(expect(200, await ann.get(path)).headers['x-consistency'], 'stale')
  }
}

if (mongo !== undefined) test.run()
