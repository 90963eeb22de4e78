import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { nothingAsked, repeatOpen, wishOn } from '../wishes.ts'
import { openDoor } from './door.ts'
import { grantedOnce } from './granted-once.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const mongo = await findServers('a projection that is killed in a batch')
const test = suite('a process that projects to MongoDB and is killed')

test('after it wrote the documents of a batch, and before its checkpoint, is followed by another that counts none twice', () =>
  withServers(mongo, async ({ database, serve, log }) => {
    const batches = watchBatches()
    const door = await openDoor(database, batches.passes)
    try {
      const first = await serve({ ROLES: 'projections', READ_MODEL: door.address })
      const [second, { ann }] = await Promise.all([serve({ ROLES: 'projections' }), serve({ ROLES: 'http' })])
      const asked = nothingAsked()
      const clients = [0, 1, 2].map((n) => wishOn(ann, `${n}`, asked, () => batches.isHeld()))
      await until('some stones', () => asked.acknowledged.size > 30)
      batches.holdNext()
      await until('documents without their checkpoint', batches.isHeld)
      await first.kill()
      await Promise.all(clients)
      let created = 0
      const isPending = async () => {
        const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: `after-${++created}` })))
        asked.acknowledged.set(...skuAndId(answer.json()))
        return answer.headers['x-consistency'] === 'pending'
      }
      await until('another to take over', async () => !(await isPending()))
      await repeatOpen(ann, asked)
      await grantedOnce(log, ann, asked)
      assert.is(await second.stop(), 0)
    } finally {
      await door.close()
    }
  }))

const skuAndId = (shown: unknown): [string, number] => {
  const { sku, id } = shown as { sku: string; id: number }
  return [sku, id]
}

/**
 * Tells the moment at which a batch is half done: a runner sends the checkpoint (collection `builds`) when its documents
 * were acknowledged. From there on nothing of that connection reaches the server.
 */
function watchBatches() {
  let state: 'watching' | 'to be held' | 'documents written' | 'held' = 'watching'
  return {
    holdNext: () => void (state = 'to be held'),
    isHeld: () => state === 'held',
    passes(piece: Buffer): boolean {
      const text = piece.toString('latin1')
      const [, written = ''] = /(?:insert|update)\0.{4}(diamonds_v[^\0]*)\0/s.exec(text) ?? []
      if (state === 'to be held' && written !== '' && !written.endsWith('_counts')) state = 'documents written'
      else if (state === 'documents written' && /update\0.{4}builds\0.*\0diamonds\0/s.test(text)) state = 'held'
      return state !== 'held'
    },
  }
}

if (mongo !== undefined) test.run()
