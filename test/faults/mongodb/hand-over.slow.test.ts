import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { freeze, thaw } from '../../freeze.ts'
import { mongoServer } from '../../mongo-server.ts'
import { assertWritesKept } from '../writes-kept.ts'
import { newWriteRecord, writeUntilDown } from '../load.ts'
import type { Serving } from '../serving.ts'
import { withCluster } from './cluster.ts'
import { until } from '../../until.ts'

const server = await mongoServer('hand-over of a projection')
const test = suite('an installation with two processes that project')
const database = () => server?.newDatabase() ?? ''
/** FerretDB scans a whole collection for each conditional replacement, so a projection could not catch up under load. */
const isSlow = server?.isFerretDB === true

test('replaces a killed projection without losing or duplicating anything', () =>
  withCluster(database(), async (cluster) => {
    const first = await cluster.start('projections')
    const [second, web] = await Promise.all([cluster.start('projections'), cluster.start('http')])
    const load = loadOn(web.ann)
    await until('some writes', () => load.record.created.size > 40)
    await first.kill()
    if (isSlow) await load.stop()
    await handOver(load.ann)
    if (!isSlow) await load.stop()
    await assertWritesKept(load.ann, load.record)
    assert.is(await second.stop(), 0)
  }))

test('replaces a frozen projection, which changes nothing when it resumes', () =>
  withCluster(database(), async (cluster) => {
    const first = await cluster.start('projections')
    const [second, web] = await Promise.all([cluster.start('projections'), cluster.start('http')])
    const load = loadOn(web.ann)
    await until('some writes', () => load.record.created.size > 40)
    await freezeOutsideLock(first, load.ann)
    if (isSlow) await load.stop()
    await handOver(load.ann)
    thaw(first.pid)
    await until('it to notice the takeover', () =>
      first.output().includes('another process has taken over a projection'),
    )
    if (!isSlow) await load.stop()
    console.log(
      `NOTE: ${isSlow ? 'FerretDB' : 'MongoDB'} showed the hand-over after SIGSTOP, ` +
        (isSlow ? 'and SIGCONT without load: its filtered updates are not atomic' : 'and SIGCONT under load'),
    )
    await assertWritesKept(load.ann, load.record)
    assert.equal([await first.stop(), await second.stop()], [0, 0])
  }))

/** Clients that write until they are stopped, with the results of their writes. */
function loadOn(ann: Vendor) {
  const record = newWriteRecord()
  let isStopped = false
  const stoppable: Vendor = {
    ...ann,
    async post(...args) {
      if (isStopped) throw new Error('the load is over')
      return ann.post(...args)
    },
  }
  const clients = Array.from({ length: 4 }, (_, client) => writeUntilDown(stoppable, `${client}`, record))
  return {
    ann,
    record,
    async stop() {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

/** Freezes a process while it does not hold the lock of a shared embedded log, because no other process could append then. */
async function freezeOutsideLock({ pid }: Serving, ann: Vendor): Promise<void> {
  await until('a moment without the lock', async () => {
    await freeze(pid)
    const { status } = await ann.post('/v4/diamond', stone({ sku: `stopped-${randomUUID()}` }))
    if (status === 201) return true
    thaw(pid)
    return false
  })
}

/** Resolves when writes are in the read models again before their response. */
const handOver = (ann: Vendor): Promise<void> => until('another to take over', async () => !(await isPending(ann)))

async function isPending(ann: Vendor): Promise<boolean> {
  const response = await ann.post('/v4/diamond', stone({ sku: `after-${randomUUID()}` }))
  return expect(201, response).headers['x-consistency'] === 'pending'
}

if (server !== undefined) test.run()
