import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nothingTold, writeUntilGone } from './load.ts'
import { everyDiamond, withInstallation } from './serving.ts'

const test = suite('a service that is asked to stop')

/** Every fourth stone of a client is deleted right after it was created. */
const isDeleted = (sku: string) => Number(/\d+$/.exec(sku)?.[0]) % 4 === 2

test('answers every request that it carries out, loses none, and ends with 0', () =>
  withInstallation(async ({ serve }) => {
    const service = await serve()
    const told = nothingTold()
    const clients = Array.from({ length: 12 }, (_, client) => writeUntilGone(service.ann, `s-${client}`, told))
    while (told.created.size < 100) await new Promise<void>((done) => setTimeout(done, 5))
    const asked = performance.now()
    assert.is(await service.stop(), 0)
    assert.ok(performance.now() - asked < 10_000, 'it took longer than the drain may')
    await Promise.all(clients)

    const again = await serve()
    const { total, diamonds } = await everyDiamond(again.ann, 'v4')
    assert.is(total, diamonds.length)
    const bySku = new Map(diamonds.map(({ sku, id }) => [sku, id]))
    for (const [sku, id] of told.created) assert.is(bySku.get(sku), id)
    for (const sku of told.deleted) assert.not.ok(bySku.has(sku))
    // Nothing was created of which nobody was told, but for the stone whose deletion was under way.
    const untold = [...bySku.keys()].filter((sku) => !told.created.has(sku) && !isDeleted(sku))
    assert.equal(untold, [])
    await again.stop()
  }))

test('refuses new connections and ends although clients keep theirs', () =>
  withInstallation(async ({ serve }) => {
    const service = await serve()
    await Promise.all(Array.from({ length: 10 }, () => service.ann.get('/v4/diamond')))
    const asked = performance.now()
    assert.is(await service.stop(), 0)
    assert.ok(performance.now() - asked < 8_000)
    const [refused] = await Promise.allSettled([service.ann.get('/v4/diamond')])
    assert.is(refused?.status, 'rejected')
  }))

test.run()
