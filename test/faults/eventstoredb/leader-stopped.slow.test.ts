import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { startService } from '../../api/harness/service.ts'
import { list, shown, stone } from '../../api/harness/stones.ts'
import { startCluster } from '../../eventstoredb/peer/cluster.ts'
import { until } from '../../until.ts'

const test = suite('a service on three nodes of EventStoreDB')

test('accepts writes after the election that follows a hanging leader, and when that leader returns', async () => {
  const cluster = await startCluster()
  const settings = { EVENT_STORE: cluster.url, MASTER_KEY: randomBytes(32).toString('base64') }
  const service = await startService({ settings })
  const made = new Set<number>()
  let attempts = 0
  const create = async () => {
    const key = { 'Idempotency-Key': `stone-${made.size}` }
    const response = await service.ann.post('/v4/diamond', stone({ sku: `S-${made.size}` }), key)
    attempts++
    if (response.status === 503) return false
    made.add(shown(expect(201, response)).id)
    return true
  }
  try {
    for (let count = 0; count < 5; count++) assert.ok(await create())
    const old = cluster.leader()
    cluster.freeze(old)
    await until('a 503', async () => !(await create()))
    cluster.elect()
    await until('a write', create)
    for (const step of ['thaw', 'rejoin'] as const) {
      cluster[step](old)
      for (let count = 0; count < 5; count++) await until('a write', create)
    }
    await until(
      'a current list',
      async () => (await service.ann.get('/v4/diamond')).headers['x-consistency'] === undefined,
    )
    const ids = list(expect(200, await service.ann.get('/v4/diamond?limit=100'))).map(({ id }) => id)
    assert.equal(ids.toSorted(), [...made].toSorted())
    assert.ok(attempts > made.size)
  } finally {
    await service.stop()
    await cluster.stop()
  }
})

test.run()
