import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { cli, withLogFile } from '../accounts-on-disk.ts'

const test = suite('integer ids')

const blocks = (file: string, size: number, prefetchThreshold = 0) => {
  const store = openSqliteEventStore(file)
  return {
    store,
    ids: new IdAllocator({
      ...createCommandContext(store, () => 0),
      kind: 'diamond',
      size,
      prefetchThreshold,
      origin: cli,
    }),
  }
}

test('are never shared by two processes, and start at 1', () =>
  withLogFile(async (file) => {
    const [one, other] = [blocks(file, 10, 3), blocks(file, 7)]
    const takes = Array.from({ length: 200 }, (_, index) => (index % 2 ? one : other).ids.take())
    const many = [one.ids.takeMany(35), other.ids.takeMany(3)]
    const allocated = [...(await Promise.all(takes)), ...(await Promise.all(many)).flat()]
    assert.is(allocated.length, 238)
    assert.is(new Set(allocated).size, 238)
    assert.is(Math.min(...allocated), 1)
    await Promise.all([one.store.close(), other.store.close()])
  }))

test('are taken without the log while some of a block are left', () =>
  withLogFile(async (file) => {
    const { store, ids } = blocks(file, 3)
    const reservations = async () => (await store.readStream('ids-diamond')).length
    assert.equal([await ids.take(), await ids.take(), await ids.take()], [1, 2, 3])
    assert.is(await reservations(), 1)
    assert.is(await ids.take(), 4)
    assert.is(await reservations(), 2)
    await store.close()
  }))

test('continue after those reserved by a process that ended', () =>
  withLogFile(async (file) => {
    const ended = blocks(file, 5)
    assert.is(await ended.ids.take(), 1)
    await ended.store.close()
    const { store, ids } = blocks(file, 5)
    assert.equal(await ids.takeMany(7), [6, 7, 8, 9, 10, 11, 12])
    await store.close()
  }))

test('of the next block are prefetched before the current block is used up', () =>
  withLogFile(async (file) => {
    const { store, ids } = blocks(file, 4, 3)
    assert.equal([await ids.take(), await ids.take()], [1, 2])
    while ((await store.readStream('ids-diamond')).length < 2) await new Promise((done) => setImmediate(done))
    await Promise.resolve()
    assert.equal(await Promise.all([ids.take(), ids.take(), ids.take()]), [3, 4, 5])
    await store.close()
  }))

test.run()
