import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { DiamondQueries } from '../../../src/projections/diamonds/diamond-queries.ts'
import { etagOf } from '../../../src/projections/diamonds/diamond-view.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import {
  StoreUnavailable,
  type EventStore,
  type Revision,
  type Subscription,
} from '../../../src/stores/ports/event-store.ts'
import type { ReadModelBuild, ReadStore } from '../../../src/stores/ports/read-store.ts'
import {
  consumerOf,
  DEADLINE,
  expectedContent,
  assertModelMatchesLog,
  readModelContent,
  openDisk,
  origin,
  vendorOf,
  project,
  runnerOf,
  withDisk,
  type Disk,
} from './inventory-on-disk.ts'
import { waitFor, until } from '../../until.ts'
import { withFolder } from '../../temporary-folder.ts'
import { openFiles } from '../../open-files.ts'

const test = suite('a projection')

const append = (store: EventStore, stream: string, expected: Revision, type: string, data: Record<string, unknown>) =>
  store.append(stream, expected, [{ id: randomUUID(), type, data, metadata: toEventMetadata(origin, Date.now()) }])

test(
  'has the same result as folding the log',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [a = 0, b = 0] = await vendor.create(5)
    await vendor.patch(a, { price: 7, isColored: true })
    await vendor.remove(b)
    await project(disk)
    await assertModelMatchesLog(disk)
  }),
)

test(
  'folds many events in parts, so that other work has its turn after each hundred',
  withDisk(async (disk) => {
    const counts = [0]
    const folded: unknown[] = []
    const countingDiamonds: typeof diamonds = {
      ...diamonds,
      toDocument(state) {
        folded.push(state)
        return diamonds.toDocument(state)
      },
    }
    // The first run fills a new build, the second one continues it.
    for (const end of [1_000, 2_000]) {
      await vendorOf(disk.store).create(1_000)
      const runner = runnerOf(disk, countingDiamonds)
      runner.start()
      while (folded.length < end) {
        await nextTurn()
        counts.push(folded.length)
      }
      assert.ok(await runner.progress.waitForPosition(await disk.store.head(), DEADLINE))
      await runner.stop()
    }
    const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0))
    assert.ok(Math.max(...steps) <= 100, `${Math.max(...steps)} events were folded in one turn`)
  }),
)

test(
  'parks a stream with a poison event and continues with all others',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    const [a = 0, b = 0, c = 0] = await vendor.create(3)
    await append(store, `diamond-${b}`, 0n, 'DiamondPatched', { set: { carat: 'heavy' }, removed: [] })
    await append(store, `diamond-${b}`, 1n, 'DiamondPatched', { set: { price: 5 }, removed: [] })
    await vendor.patch(a, { price: 6 })
    await project({ store, reads })
    await vendor.patch(c, { price: 7 })
    await project({ store, reads })

    const model = await reads.model(diamonds.declaration)
    assert.equal([...(await model.parkedStreams())], [`diamond-${b}`])
    const letters = await (await reads.live(diamonds.declaration)).deadLetters()
    assert.equal(
      letters.map(({ revision, type }) => [revision, type]),
      [
        [1n, 'DiamondPatched'],
        [2n, 'DiamondPatched'],
      ],
    )
    const runner = runnerOf({ store, reads })
    runner.start()
    const queries = new DiamondQueries(model, store, runner.progress)
    const { views, total } = await queries.list(1, {}, { limit: 10, offset: 0 })
    assert.equal([total, views.map(({ diamond }) => diamond.fields.price)], [3, [7, null, 6]])
    const { view } = await queries.findDiamond(b)
    assert.is(view?.diamond.fields.price, 5)
    assert.is(view && etagOf(view), '"2.0"')
    await runner.stop()
  }),
)

test(
  'that may lag writes at once if a request waits for it, and stops during its pause',
  withDisk(async (disk) => {
    const runner = runnerOf(disk, { ...diamonds, maxLagMs: 2 * DEADLINE })
    const vendor = vendorOf(disk.store)
    runner.start()
    for (let count = 0; count < 3; count++) {
      await vendor.create(1)
      assert.ok(
        await runner.progress.waitForPosition(await disk.store.head(), DEADLINE),
        'the waiting request was ignored',
      )
    }
    await waitFor('the end of the pause', runner.stop())
    await assertModelMatchesLog(disk)
  }),
)

/** Restores the log of a folder from a backup that is older than its read model, then appends `more` events. */
async function restoreOlderLog(folder: string, more: number): Promise<void> {
  const file = join(folder, 'events.db')
  const before = openDisk(folder)
  const [a = 0] = await vendorOf(before.store).create(3)
  await before.close()
  copyFileSync(file, `${file}.backup`)
  const after = openDisk(folder)
  const vendor = vendorOf(after.store)
  await vendor.patch(a, { sku: 'LOST' })
  await vendor.create(2)
  await project(after)
  await after.close()
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  copyFileSync(`${file}.backup`, file)
  const restored = openDisk(folder)
  for (let count = 0; count < more; count++) await vendorOf(restored.store).create(1)
  await restored.close()
}

for (const [description, more] of [
  ['and is shorter than the checkpoint', 0],
  ['and has grown beyond the checkpoint with other events', 10],
] as const) {
  test(`is rebuilt if its log was restored from a backup ${description}`, () =>
    withFolder(async (folder) => {
      await restoreOlderLog(folder, more)
      const disk = openDisk(folder)
      await project(disk)
      await assertModelMatchesLog(disk)
      assert.not.match(JSON.stringify(await readModelContent(disk.reads)), 'LOST')
      await vendorOf(disk.store).create(1)
      await project(disk)
      await assertModelMatchesLog(disk)
      await disk.close()
    }))
}

test('is rebuilt if its log was restored to before the last event that it read and has grown since', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'events.db')
    const first = openDisk(folder)
    await vendorOf(first.store).create(3)
    await project(first)
    await first.close()
    copyFileSync(file, `${file}.backup`)
    const later = openDisk(folder)
    for (let other = 0; other < 20; other++) await append(later.store, `account-${other}`, 'none', 'PlanChanged', {})
    await project(later)
    await later.close()
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
    copyFileSync(`${file}.backup`, file)
    const restored = openDisk(folder)
    await vendorOf(restored.store).create(2)
    await project(restored)
    await assertModelMatchesLog(restored)
    for (let other = 0; other < 40; other++) await append(restored.store, `account-${other}`, 'none', 'PlanChanged', {})
    await vendorOf(restored.store).create(2)
    await project(restored)
    await assertModelMatchesLog(restored)
    await restored.close()
  }))

test('is rebuilt if it belongs to another log, however similar the logs are', () =>
  withFolder(async (folder) => {
    const first = openDisk(folder)
    await vendorOf(first.store).create(3)
    await project(first)
    await first.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, 'events.db') + suffix, { force: true })
    const second = openDisk(folder)
    await vendorOf(second.store).create(2)
    await project(second)
    await assertModelMatchesLog(second)
    await second.close()
  }))

/** A read store that calls `check` before and after each step of a rebuild. */
function observedRebuilds(reads: ReadStore, check: () => Promise<void>): ReadStore {
  const observed = (build: ReadModelBuild): ReadModelBuild => ({
    ...build,
    async write(...batch) {
      await check()
      await build.write(...batch)
      await check()
    },
  })
  return {
    ...reads,
    beginPendingBuild: async (declaration) => observed(await reads.beginPendingBuild(declaration)),
    openPendingBuild: async (declaration, filling) => observed(await reads.openPendingBuild(declaration, filling)),
    async promote(declaration, build) {
      await check()
      await reads.promote(declaration, build)
      await check()
    },
  }
}

test(
  'is rebuilt while readers see the complete model',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const ids = await vendor.create(900)
    for (const id of ids.slice(0, 400)) await vendor.patch(id, { price: id })
    await project(disk)
    const expected = await expectedContent(disk.store)
    let checks = 0
    const check = async () => {
      assert.equal(await readModelContent(disk.reads), expected)
      checks++
    }
    await consumerOf({ store: disk.store, reads: observedRebuilds(disk.reads, check) }, diamonds).rebuild()
    assert.ok(checks >= 4, `${checks} checks`)
    assert.equal(await readModelContent(disk.reads), expected)
    await vendor.create(1)
    await project(disk)
    await assertModelMatchesLog(disk)
  }),
)

/** Gives the read model a checkpoint at an event that the log does not have, as after a restore. */
async function setUnknownCheckpoint({ store, reads }: Disk): Promise<string> {
  const live = await reads.live(diamonds.declaration)
  const position = { commit: 9_999n, prepare: 9_999n }
  await live.write([], { position, log: await store.identity(), event: { id: randomUUID(), position } })
  return live.id
}

const buildsIn = (folder: string) => readdirSync(folder).filter((name) => /^read-diamonds.*\.db$/.test(name))
/** Files that a pending build keeps open: the database, its WAL and the WAL's index. */
const FILES_OF_A_BUILD = 3

test('that is stopped during a rebuild keeps its live build until the rebuild is complete, and resumes each time', () =>
  withFolder(async (folder) => {
    const disk = openDisk(folder)
    const vendor = vendorOf(disk.store)
    const ids = await vendor.create(900)
    // More events than one page of the log and the in-memory tail hold.
    for (const price of [1, 2]) await Promise.all(ids.map((id) => vendor.patch(id, { price })))
    const live = await setUnknownCheckpoint(disk)
    const before = openFiles().length
    let runner = runnerOf(disk)
    let stopping: Promise<void> | undefined
    const stopped = observedRebuilds(disk.reads, async () => void (stopping ??= runner.stop()))
    const liveNow = async () => (await disk.reads.live(diamonds.declaration)).id
    let stops = 0
    for (; (await liveNow()) === live; stops++) {
      assert.ok(stops < 20, 'the rebuild restarts each time')
      stopping = undefined
      runner = runnerOf({ store: disk.store, reads: stopped })
      runner.start()
      await until('the rebuild', () => stopping !== undefined)
      await stopping
      if ((await liveNow()) !== live) await assertModelMatchesLog(disk)
      assert.is(buildsIn(folder).length, 2)
    }
    assert.ok(stops >= 2, `it was stopped ${stops} times`)
    assert.ok(openFiles().length <= before + 2 + FILES_OF_A_BUILD, `${openFiles().length - before} more files are open`)
    await project(disk)
    await assertModelMatchesLog(disk)
    await disk.close()
  }))

test('whose rebuild fails repeatedly resumes in the same file, and completes when the failures end', () =>
  withFolder(async (folder) => {
    const disk = openDisk(folder)
    await vendorOf(disk.store).create(3)
    await setUnknownCheckpoint(disk)
    const before = openFiles().length
    let checks = 0
    const failing = observedRebuilds(disk.reads, async () => {
      checks++
      throw new StoreUnavailable('injected failure')
    })
    const runner = runnerOf({ store: disk.store, reads: failing })
    runner.start()
    await until('five failures', () => checks >= 5)
    await runner.stop()
    assert.is(buildsIn(folder).length, 2)
    assert.ok(openFiles().length <= before + 2 + FILES_OF_A_BUILD, `${openFiles().length - before} more files are open`)
    await project(disk)
    await assertModelMatchesLog(disk)
    await disk.close()
  }))

/** A read store whose next writes fail, each before or after the data is written. */
function failingWrites(reads: ReadStore, faults: ('before' | 'after')[]): ReadStore {
  const failing = (build: ReadModelBuild): ReadModelBuild => ({
    ...build,
    async write(...batch) {
      const fault = faults.shift()
      if (fault === 'before') throw new StoreUnavailable('injected failure before the write')
      await build.write(...batch)
      if (fault === 'after') throw new StoreUnavailable('injected failure after the write')
    },
  })
  return { ...reads, live: async (declaration) => failing(await reads.live(declaration)) }
}

test(
  'catches up after failures of the read store before and after a write',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    const [a = 0] = await vendor.create(5)
    const faults: ('before' | 'after')[] = ['before', 'after', 'before', 'after']
    const runner = runnerOf({ store, reads: failingWrites(reads, faults) })
    runner.start()
    assert.ok(await runner.progress.waitForPosition(await store.head(), DEADLINE))
    await vendor.patch(a, { price: 9 })
    faults.push('after', 'after')
    await vendor.patch(a, { price: 10 })
    assert.ok(await runner.progress.waitForPosition(await store.head(), DEADLINE))
    await runner.stop()
    await assertModelMatchesLog({ store, reads })
  }),
)

/** A log whose first subscriptions fail: at once, or after their first batch. */
function failingSubscriptions(store: EventStore, faults: ('at once' | 'after a batch')[]): EventStore {
  return {
    ...store,
    subscribe(from, filter): Subscription {
      const fault = faults.shift()
      const subscription = store.subscribe(from, filter)
      return {
        stop: () => subscription.stop(),
        async *[Symbol.asyncIterator]() {
          if (fault === 'at once') throw new StoreUnavailable('injected failure')
          for await (const batch of subscription) {
            yield batch
            if (fault !== undefined) throw new StoreUnavailable('injected failure')
          }
        },
      }
    },
  }
}

test(
  'catches up after its subscription fails',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    await vendor.create(5)
    const runner = runnerOf({
      store: failingSubscriptions(store, ['at once', 'after a batch', 'at once', 'after a batch']),
      reads,
    })
    runner.start()
    const [b = 0] = await vendor.create(5)
    await vendor.patch(b, { price: 3 })
    assert.ok(await runner.progress.waitForPosition(await store.head(), DEADLINE))
    await runner.stop()
    await assertModelMatchesLog({ store, reads })
  }),
)

/** A read store that returns no checkpoint. */
function withoutCheckpoint(reads: ReadStore): ReadStore {
  const live: ReadStore['live'] = async (declaration) => {
    const build = await reads.live(declaration)
    return { ...build, checkpoint: async () => undefined }
  }
  return { ...reads, live }
}

test(
  'that reads the log from its start again changes nothing and restores nothing that was deleted',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    const [a = 0, b = 0] = await vendor.create(4)
    await project({ store, reads })
    await vendor.patch(a, { price: 1, isColored: true })
    await vendor.remove(b)
    await project({ store, reads })
    await project({ store, reads: withoutCheckpoint(reads) })
    await assertModelMatchesLog({ store, reads })
    await vendor.patch(a, { price: 2 })
    await project({ store, reads: withoutCheckpoint(reads) })
    await assertModelMatchesLog({ store, reads })
  }),
)

test.run()
