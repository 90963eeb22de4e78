import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stone } from '../api/harness/stones.ts'
import { newWriteRecord, writeUntilDown } from './load.ts'
import { everyDiamond, withInstallation } from './serving.ts'
import { beginCreate, openIdleConnection } from './pending-request.ts'
import { waitFor, until } from '../until.ts'

const test = suite('a service that is stopped')

/** Whether writeUntilGone deletes this stone right after creating it. */
const isDeleted = (sku: string) => Number(/\d+$/.exec(sku)?.[0]) % 4 === 2

test('responds to every request that it executes, loses none, and exits with 0', () =>
  withInstallation(async ({ serve }) => {
    const service = await serve()
    const record = newWriteRecord()
    const clients = Array.from({ length: 12 }, (_, client) => writeUntilDown(service.ann, `s-${client}`, record))
    await until('creates', () => record.created.size >= 100)
    assert.is(await service.stop(), 0)
    await Promise.all(clients)

    const restarted = await serve()
    const { total, diamonds } = await everyDiamond(restarted.ann, 'v4')
    assert.is(total, diamonds.length)
    const bySku = new Map(diamonds.map(({ sku, id }) => [sku, id]))
    for (const [sku, id] of record.created) assert.is(bySku.get(sku), id)
    for (const sku of record.deleted) assert.not.ok(bySku.has(sku))
    // Unacknowledged stones do not exist, except those whose deletion was in progress.
    const unacknowledged = [...bySku.keys()].filter((sku) => !record.created.has(sku) && !isDeleted(sku))
    assert.equal(unacknowledged, [])
    await restarted.stop()
  }))

test('closes idle connections, completes the requests in progress, rejects new connections, and exits', () =>
  withInstallation(async ({ serve }) => {
    const service = await serve()
    const kept = await Promise.all(Array.from({ length: 10 }, () => openIdleConnection(service.url)))
    const request = await beginCreate(service.url, service.ann.token, stone())
    const closed = Promise.all(kept.map((socket) => once(socket, 'close')))
    const stopped = service.stop()
    await waitFor('the end of idle connections', closed)
    assert.match(await request.finish(), /^HTTP\/1.1 201 /)
    assert.is(await waitFor('the end of the process', stopped), 0)
    const [refused] = await Promise.allSettled([service.ann.get('/v4/diamond')])
    assert.is(refused?.status, 'rejected')
  }))

test.run()
