import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { expect } from '../../api/harness/request.ts'
import { stone } from '../../api/harness/stones.ts'
import { freeze, thaw } from '../../freeze.ts'
import { mongoServer } from '../../mongo-server.ts'
import { holds } from '../holds.ts'
import { nothingTold, writeUntilGone } from '../load.ts'
import type { Serving } from '../serving.ts'
import { withCluster } from './cluster.ts'
import { until } from '../../until.ts'

const server = await mongoServer('hand-over of a projection')
const test = suite('an installation with two processes that project')
const database = () => server?.newDatabase() ?? ''
/** FerretDB looks through a whole collection for each guarded replacement: under load nothing would catch up there. */
const isSlow = server?.isFerretDB === true

test('has one active projection, and another after its death, with nothing lost or doubled', () =>
  withCluster(database(), async (cluster) => {
    const first = await cluster.start('projections')
    const [second, web] = await Promise.all([cluster.start('projections'), cluster.start('http')])
    const load = loadOn(web.ann)
    await until('some writes', () => load.told.created.size > 40)
    await first.kill()
    if (isSlow) await load.stop()
    await handOver(load.ann)
    if (!isSlow) await load.stop()
    await holds(load.ann, load.told)
    assert.is(await second.stop(), 0)
  }))

test('goes on with another projection when one stands still, and that one changes nothing when it goes on', () =>
  withCluster(database(), async (cluster) => {
    const first = await cluster.start('projections')
    const [second, web] = await Promise.all([cluster.start('projections'), cluster.start('http')])
    const load = loadOn(web.ann)
    await until('some writes', () => load.told.created.size > 40)
    await standStill(first, load.ann)
    if (isSlow) await load.stop()
    await handOver(load.ann)
    thaw(first.pid)
    await until('it to notice', () => first.said().includes('another process has taken over a projection'))
    if (!isSlow) await load.stop()
    console.log(
      `NOTE: ${isSlow ? 'FerretDB' : 'MongoDB'} showed the hand-over after SIGSTOP, ` +
        (isSlow ? 'and SIGCONT without load: its filtered updates are not atomic' : 'and SIGCONT under load'),
    )
    await holds(load.ann, load.told)
    assert.equal([await first.stop(), await second.stop()], [0, 0])
  }))

/** Clients that write until they are stopped, and what they were told. */
function loadOn(ann: Vendor) {
  const told = nothingTold()
  let over = false
  const untilOver: Vendor = {
    ...ann,
    async post(...words) {
      if (over) throw new Error('the load is over')
      return ann.post(...words)
    },
  }
  const clients = Array.from({ length: 4 }, (_, client) => writeUntilGone(untilOver, `${client}`, told))
  return {
    ann,
    told,
    async stop() {
      over = true
      await Promise.all(clients)
    },
  }
}

/**
 * Stops a process at a moment at which it does not hold the lock of the log that it shares with the others: on an
 * embedded log nobody could write then.
 */
async function standStill({ pid }: Serving, ann: Vendor): Promise<void> {
  await until('a moment without the lock', async () => {
    await freeze(pid)
    const { status } = await ann.post('/v4/diamond', stone({ sku: `stopped-${randomUUID()}` }))
    if (status === 201) return true
    thaw(pid)
    return false
  })
}

/** Resolves when a write is in the read models again before it is answered. */
const handOver = (ann: Vendor): Promise<void> => until('another to take over', async () => !(await isPending(ann)))

async function isPending(ann: Vendor): Promise<boolean> {
  const answer = await ann.post('/v4/diamond', stone({ sku: `after-${randomUUID()}` }))
  return expect(201, answer).headers['x-consistency'] === 'pending'
}

if (server !== undefined) test.run()
