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
const test = suite('an election of a primary in MongoDB')

/** Commands on the leases (checks and heartbeats) during and after each election: so many that no lease survives by luck. */
const LEASE_COMMANDS = 60
const ELECTIONS = 2

test('leaves each projection with its process', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  try {
    await withCluster(proxy.address, async (cluster) => {
      const first = await cluster.start('projections')
      const second = await cluster.start('projections')
      const { ann } = await cluster.start('http')
      let created = 0
      const isCurrent = async () => {
        const response = expect(201, await ann.post('/v4/diamond', stone({ sku: `S-${++created}` })))
        return response.headers['x-consistency'] !== 'pending'
      }
      await until('current lists', isCurrent)
      for (let held = 0; held < ELECTIONS; held++) {
        const rejected = countLeaseCommands(election)
        proxy.rule(rejected.rule)
        await until('commands on the leases during the election', () => rejected.count() >= LEASE_COMMANDS)
        const passed = countLeaseCommands(() => undefined)
        proxy.rule(passed.rule)
        await until('current lists again', isCurrent)
        await until('commands on the leases after the election', () => passed.count() >= LEASE_COMMANDS)
      }
      for (const each of [first, second]) assert.not.match(each.output(), 'another process has taken over')
      assert.equal([await first.stop(), await second.stop()], [0, 0])
    })
  } finally {
    await proxy.stop()
    await server?.drop(address)
  }
})

/** Wraps a rule and counts the commands on the leases. */
function countLeaseCommands(next: Rule): { rule: Rule; count: () => number } {
  let count = 0
  return {
    rule(name, body) {
      if (body[name] === 'leases') count++
      return next(name, body)
    },
    count: () => count,
  }
}

if (server !== undefined) test.run()
