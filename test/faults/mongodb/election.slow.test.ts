import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { election } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'
import { withCluster } from './cluster.ts'
import { until } from '../../until.ts'

const server = await mongoServer('an election in MongoDB')
const test = suite('an installation whose MongoDB elects a primary')

/** Milliseconds: longer than a holder may be silent, several times, so that no luck keeps the leases where they are. */
const ELECTION = 5_000
const ELECTIONS = 2

test('leaves each projection with the process that has it', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  try {
    await withCluster(proxy.address, async (cluster) => {
      const first = await cluster.start('projections')
      const second = await cluster.start('projections')
      const { ann } = await cluster.start('http')
      const isCurrent = async () => {
        const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: `S-${performance.now()}` })))
        return answer.headers['x-consistency'] !== 'pending'
      }
      await until('projections to be there', isCurrent)
      for (let held = 0; held < ELECTIONS; held++) {
        proxy.rule(election)
        await pause(ELECTION)
        proxy.rule()
        await until('projections to be there again', isCurrent)
        await pause(1_000)
      }
      for (const each of [first, second]) assert.not.match(each.said(), 'another process has taken over')
      assert.equal([await first.stop(), await second.stop()], [0, 0])
    })
  } finally {
    await proxy.stop()
    await server?.drop(address)
  }
})

if (server !== undefined) test.run()
