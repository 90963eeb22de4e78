import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { newCreateResults, repeatOpen, createUntil } from '../create-requests.ts'
import { startMongoTcpProxy } from './tcp-proxy.ts'
import { assertCreatedOnce } from './created-once.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const mongo = await findServers('a projection that is killed during a batch')
const test = suite('a process that projects to MongoDB')

test('is replaced by another that counts nothing twice if it is killed between the documents and the checkpoint of a batch', () =>
  withServers(mongo, async ({ database, serve, log }) => {
    const batches = watchBatches()
    const proxy = await startMongoTcpProxy(database, batches.passes)
    try {
      const first = await serve({ ROLES: 'projections', READ_MODEL: proxy.address })
      const [second, { ann }] = await Promise.all([serve({ ROLES: 'projections' }), serve({ ROLES: 'http' })])
      const results = newCreateResults()
      const clients = [0, 1, 2].map((n) => createUntil(ann, `${n}`, results, () => batches.isHeld()))
      await until('some stones', () => results.acknowledged.size > 30)
      batches.holdNext()
      await until('documents without a checkpoint', batches.isHeld)
      await first.kill()
      await Promise.all(clients)
      let created = 0
      const isPending = async () => {
        const response = expect(201, await ann.post('/v4/diamond', stone({ sku: `after-${++created}` })))
        results.acknowledged.set(...skuAndId(response.json()))
        return response.headers['x-consistency'] === 'pending'
      }
      await until('another to take over', async () => !(await isPending()))
      await repeatOpen(ann, results)
      await assertCreatedOnce(log, ann, results)
      assert.is(await second.stop(), 0)
    } finally {
      await proxy.close()
    }
  }))

const skuAndId = (shown: unknown): [string, number] => {
  const { sku, id } = shown as { sku: string; id: number }
  return [sku, id]
}

/**
 * Stops a connection in the middle of a batch: a runner sends the checkpoint (collection `builds`) after its documents were
 * acknowledged. The checkpoint and all later commands do not reach the server.
 */
function watchBatches() {
  let state: 'watching' | 'to be held' | 'documents written' | 'held' = 'watching'
  return {
    holdNext: () => void (state = 'to be held'),
    isHeld: () => state === 'held',
    passes(chunk: Buffer): boolean {
      const text = chunk.toString('latin1')
      const [, written = ''] = /(?:insert|update)\0.{4}(diamonds_v[^\0]*)\0/s.exec(text) ?? []
      if (state === 'to be held' && written !== '' && !written.endsWith('_counts')) state = 'documents written'
      else if (state === 'documents written' && /update\0.{4}builds\0.*\0diamonds\0/s.test(text)) state = 'held'
      return state !== 'held'
    },
  }
}

if (mongo !== undefined) test.run()
