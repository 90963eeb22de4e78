import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { startMongoProxy, type Rule } from '../../mongo-proxy/proxy.ts'
import { election } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'
import { withCluster } from './cluster.ts'
import { until } from '../../until.ts'

const server = await mongoServer('an election in MongoDB')
const test = suite('an installation whose MongoDB elects a primary')

/**
 * Commands on the leases that meet each election, and that come behind it: looks and signs of both processes. So many that
 * none keeps its lease by luck.
 */
const LOOKS = 60
const ELECTIONS = 2

test('leaves each projection with the process that has it', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  try {
    await withCluster(proxy.address, async (cluster) => {
      const first = await cluster.start('projections')
      const second = await cluster.start('projections')
      const { ann } = await cluster.start('http')
      let created = 0
      const isCurrent = async () => {
        const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: `S-${++created}` })))
        return answer.headers['x-consistency'] !== 'pending'
      }
      await until('projections to be there', isCurrent)
      for (let held = 0; held < ELECTIONS; held++) {
        const refused = countedLooks(election)
        proxy.rule(refused.rule)
        await until('looks at the leases', () => refused.looks() >= LOOKS)
        const passed = countedLooks(() => undefined)
        proxy.rule(passed.rule)
        await until('projections to be there again', isCurrent)
        await until('looks at the leases behind it', () => passed.looks() >= LOOKS)
      }
      for (const each of [first, second]) assert.not.match(each.said(), 'another process has taken over')
      assert.equal([await first.stop(), await second.stop()], [0, 0])
    })
  } finally {
    await proxy.stop()
    await server?.drop(address)
  }
})

/** A rule that counts how often somebody looks for a lease, or gives a sign. */
function countedLooks(then: Rule): { rule: Rule; looks: () => number } {
  let looks = 0
  return {
    rule(name, body) {
      if (body[name] === 'leases') looks++
      return then(name, body)
    },
    looks: () => looks,
  }
}

if (server !== undefined) test.run()
