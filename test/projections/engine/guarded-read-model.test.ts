import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { openGuardedReadModel } from '../../../src/projections/engine/guarded-read-model.ts'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import type { ReadModel, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { consumerOf, openDisk, vendorOf, project, withDisk, type Disk } from './inventory-on-disk.ts'
import { withFolder } from '../../temporary-folder.ts'

const test = suite('a guarded read model')

const OLDEST = [['date', 'asc']] as const
const listIds = (model: ReadModel) =>
  model.find({ where: { owner: 1 }, order: OLDEST, limit: 10, offset: 0, select: ['id'] })

/** Runs with an empty log and a read model of two diamonds that was built from another log. */
const withModelOfAnotherLog = (run: (disk: Disk) => Promise<void>) => () =>
  withFolder(async (folder) => {
    const before = openDisk(folder)
    await vendorOf(before.store).create(2)
    await project(before)
    await parkOneStream(before)
    await before.close()
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `events.db${end}`), { force: true })
    const disk = openDisk(folder)
    try {
      await run(disk)
    } finally {
      await disk.close()
    }
  })

async function parkOneStream({ reads }: Disk): Promise<void> {
  const build = await reads.live(diamonds.declaration)
  const checkpoint = await build.checkpoint()
  if (checkpoint === undefined) throw new Error('the read model has no checkpoint')
  const position = checkpoint.position === 'start' ? { commit: 0n, prepare: 0n } : checkpoint.position
  const deadLetter = { stream: 'diamond-1', revision: 1n, position, event: 'e-1', type: 'Odd', reason: 'a test' }
  await build.write([], checkpoint, [deadLetter])
}

const isRefused = async (ask: () => unknown) => {
  try {
    await ask()
  } catch (error) {
    return error instanceof StoreUnavailable
  }
  return false
}

test(
  'that was built from another log finds no diamond, and refuses to list and count',
  withModelOfAnotherLog(async ({ reads, store }) => {
    const model = await openGuardedReadModel(reads, store, diamonds.declaration)
    assert.is(await model.get(1, ['id']), undefined)
    assert.is(await model.position(), 'start')
    assert.equal(await model.parkedStreams(), new Set())
    assert.ok(await isRefused(() => listIds(model)))
    assert.ok(await isRefused(() => model.count({ owner: 1 })))
    assert.ok(await isRefused(() => model.counts({ owner: 1 })))
  }),
)

test('stops counting at the given limit', () =>
  withFolder(async (folder) => {
    const disk = openDisk(folder)
    try {
      await vendorOf(disk.store).create(5)
      await project(disk)
      const model = await openGuardedReadModel(disk.reads, disk.store, diamonds.declaration)
      assert.is(await model.count({ owner: 1 }), 5)
      assert.is(await model.count({ owner: 1 }, { by: ['owner', 'date', 'id'], upTo: 2 }), 3)
    } finally {
      await disk.close()
    }
  }))

test(
  'serves requests, without being reopened, after it was rebuilt from this log',
  withModelOfAnotherLog(async ({ reads, store }) => {
    const model = await openGuardedReadModel(reads, store, diamonds.declaration)
    assert.is(await model.get(1, ['id']), undefined)
    const [id] = await vendorOf(store).create(1)
    await project({ reads, store })
    assert.equal(await listIds(model), [{ id }])
    assert.is(await model.count({ owner: 1 }), 1)
    assert.equal(await model.get(id ?? 0, ['id']), { id })
    assert.equal(await model.position(), await store.head())
  }),
)

test(
  'refuses to list and count until the first projection has read the whole log, and creates no build',
  withDisk(async (disk, folder) => {
    for (let round = 0; round < 3; round++) await vendorOf(disk.store).create(900)
    const model = await openGuardedReadModel(disk.reads, disk.store, diamonds.declaration)
    const isNotBuilt = async () => {
      assert.is(await model.get(1, ['id']), undefined)
      assert.is(await model.position(), 'start')
      assert.ok(await isRefused(() => listIds(model)))
      assert.ok(await isRefused(() => model.count({ owner: 1 })))
    }
    await isNotBuilt()
    assert.equal(
      readdirSync(folder).filter((name) => name.startsWith('read-diamonds')),
      [],
    )

    const stop = new AbortController()
    let folded = 0
    const stoppedHalfway: typeof diamonds = {
      ...diamonds,
      toDocument(state) {
        if (++folded === 1_500) stop.abort()
        return diamonds.toDocument(state)
      },
    }
    assert.is(await consumerOf(disk, stoppedHalfway).beginRun(stop.signal), undefined)
    assert.ok(folded >= 1_500 && folded < 2_700, `${folded}`)
    await isNotBuilt()

    await project(disk)
    assert.is(await model.count({ owner: 1 }), 2_700)
  }),
)

test(
  'checks the identity of the log only when it is opened',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(2)
    await project(disk)
    let identityReads = 0
    const store: EventStore = Object.assign(Object.create(disk.store), {
      identity: () => (identityReads++, disk.store.identity()),
    })
    const model = await openGuardedReadModel(disk.reads, store, diamonds.declaration)
    const opening = identityReads
    assert.equal(await listIds(model), [{ id: 1 }, { id: 2 }])
    assert.is(await model.count({ owner: 1 }), 2)
    assert.equal(await model.get(2, ['id']), { id: 2 })
    assert.is(identityReads, opening)
  }),
)

test(
  'whose store was unavailable at first reconnects with the next request',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(1)
    await project(disk)
    let isUnavailable = true
    const reads: ReadStore = Object.assign(Object.create(disk.reads), {
      live: () =>
        isUnavailable ? Promise.reject(new StoreUnavailable('away')) : disk.reads.live(diamonds.declaration),
    })
    const model = await openGuardedReadModel(reads, disk.store, diamonds.declaration)
    assert.ok(await isRefused(() => listIds(model)))
    isUnavailable = false
    assert.equal(await listIds(model), [{ id: 1 }])
  }),
)

test.run()
