import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OperationFailure } from '../../../src/maintenance/operation.ts'
import { rebuildAll, rebuildModel } from '../../../src/maintenance/rebuild.ts'
import { neverAborted } from '../../../src/projections/engine/loop.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import type { ReadModelBuild, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { READ_MODELS } from '../../../src/wiring/consumers.ts'
import { until } from '../../until.ts'
import { quietOperation } from '../../quiet-operation.ts'
import {
  consumerOf,
  DEADLINE,
  assertModelMatchesLog,
  vendorOf,
  project,
  runnerOf,
  withDisk,
  type Disk,
} from './inventory-on-disk.ts'

const test = suite('a pending build of a read model')

const { declaration } = diamonds
const log = createLogger('silent')
const ignoreProgress = () => undefined

const liveId = async ({ reads }: Disk) => (await reads.live(declaration)).id
const fillBuild = async (disk: Disk): Promise<ReadModelBuild> => {
  const build = await consumerOf(disk, diamonds).rebuilder.fill(neverAborted(), ignoreProgress)
  assert.ok(build !== undefined)
  return build
}

/** Runs the test with a projection that has caught up; `reached` waits until it has caught up again. */
async function withRunner(
  disk: Disk,
  reads: ReadStore,
  run: (reached: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const runner = runnerOf({ store: disk.store, reads })
  const reached = async () => assert.ok(await runner.progress.waitForPosition(await disk.store.head(), DEADLINE))
  runner.start()
  try {
    await reached()
    await run(reached)
  } finally {
    await runner.stop()
  }
}

test(
  'is promoted by the running projection, with the events that were appended meanwhile',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    await vendor.create(5)
    await withRunner(disk, disk.reads, async (reached) => {
      const before = await liveId(disk)
      const build = await disk.reads.beginPendingBuild(declaration)
      await vendor.create(3)
      await reached()
      assert.is((await fillBuild(disk)).id, build.id)
      await until('the promotion', async () => (await liveId(disk)) === build.id)
      assert.is.not(before, build.id)
      await vendor.create(2)
      await reached()
      await assertModelMatchesLog(disk)
    })
  }),
)

test(
  'that cannot be used is discarded, and the live build continues',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    await vendor.create(2)
    await project(disk)
    const before = await liveId(disk)
    const refused = new Error('damaged')
    const damaged: ReadStore = { ...disk.reads, openPendingBuild: () => Promise.reject(refused) }
    for (const when of ['at the beginning', 'while the projection runs']) {
      if (when === 'at the beginning') await fillBuild(disk)
      await withRunner(disk, damaged, async (reached) => {
        if (when !== 'at the beginning') await fillBuild(disk)
        await until(
          'the pending build to be discarded',
          async () => (await disk.reads.pendingBuild(declaration)) === undefined,
        )
        await vendor.create(1)
        await reached()
        assert.is(await liveId(disk), before)
        await assertModelMatchesLog(disk)
      })
    }
  }),
)

/** The first promotion fails with an unknown outcome: it took effect or it did not. */
for (const isMade of [true, false]) {
  test(
    `is promoted again before the next write if the first promotion failed and ${isMade ? 'took effect' : 'had no effect'}`,
    withDisk(async (disk) => {
      const vendor = vendorOf(disk.store)
      await vendor.create(2)
      await project(disk)
      const before = await liveId(disk)
      let switches = 0
      let isUnknown = false
      let blind = 0
      const doubtful: ReadStore = {
        ...disk.reads,
        async live(model) {
          const build = await disk.reads.live(model)
          const write: ReadModelBuild['write'] = (...written) => {
            if (isUnknown && build.id === before) blind++
            return build.write(...written)
          }
          return { ...build, write }
        },
        async promote(model, build) {
          isUnknown = switches++ === 0
          if (isMade || !isUnknown) await disk.reads.promote(model, build)
          if (isUnknown) throw new StoreUnavailable('no response')
        },
      }
      await withRunner(disk, doubtful, async (reached) => {
        const build = await fillBuild(disk)
        await until('a promotion', () => switches > 0)
        await vendor.create(2)
        await reached()
        assert.is(blind, 0, 'the old build was written to while it was unknown which build is live')
        assert.is(await liveId(disk), build.id)
        assert.is.not(before, build.id)
        await assertModelMatchesLog(disk)
      })
    }),
  )
}

const reachedBy = async (build: ReadModelBuild) => (await build.checkpoint())?.position

test(
  'that another process promoted is continued by the running projection',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    await vendor.create(2)
    await withRunner(disk, disk.reads, async (reached) => {
      const promoted = await consumerOf(disk, diamonds).rebuild()
      assert.ok(promoted !== undefined)
      await vendor.create(1)
      const head = await disk.store.head()
      await until('the promoted build to be continued', async () => isDeepStrictEqual(await reachedBy(promoted), head))
      await vendor.create(2)
      await reached()
      assert.is(await liveId(disk), promoted.id)
      await assertModelMatchesLog(disk)
    })
  }),
)

test(
  'resumes after an interruption, and is replaced if it belongs to another log',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    for (let round = 0; round < 3; round++) await vendor.create(900)
    const { rebuilder } = consumerOf(disk, diamonds)
    const stop = new AbortController()
    let first = 0
    const stopped = await rebuilder.fill(stop.signal, (events) => {
      first += events
      stop.abort()
    })
    assert.is(stopped, undefined)
    const recorded = await disk.reads.pendingBuild(declaration)
    assert.is(recorded?.isCaughtUp, false)
    let second = 0
    const build = await rebuilder.fill(neverAborted(), (events) => (second += events))
    assert.is(build?.id, recorded?.id)
    assert.ok(first > 0 && second > 0)
    assert.is(first + second, 2_700)

    const strange = await disk.reads.beginPendingBuild(declaration)
    const position = { commit: 9_999n, prepare: 9_999n }
    await strange.write([], { position, log: 'another log', event: { id: randomUUID(), position } })
    await disk.reads.markCaughtUp(declaration, strange)
    await project(disk)
    assert.is.not(await liveId(disk), strange.id)
    assert.is.not((await fillBuild(disk)).id, strange.id)
    await project(disk)
    assert.is(await (await disk.reads.model(declaration)).count({ owner: 1 }), 2_700)
  }),
)

test(
  'is filled by one process at a time, which stops when it loses the lease',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(2)
    const stores = { ...disk, log }
    const options = { ...quietOperation(), onProgress: ignoreProgress, leaseTimeoutMs: 0 }
    const lease = await disk.reads.acquireLease({ ...declaration, name: 'diamonds-rebuild' })
    assert.ok(lease !== undefined)
    await rejects(rebuildModel(stores, diamonds, options), /Another process is rebuilding diamonds/)
    await lease.release()

    const before = await liveId(disk)
    const losing: ReadStore = {
      ...disk.reads,
      async acquireLease(model) {
        const otherLease = await disk.reads.acquireLease(model)
        return otherLease && { ...otherLease, lost: Promise.resolve(), release: () => otherLease.release() }
      },
    }
    await rejects(
      rebuildModel({ ...stores, reads: losing }, diamonds, options),
      /Another process took over the rebuild of diamonds/,
    )
    assert.is(await liveId(disk), before)
    await rebuildModel(stores, diamonds, options)
    assert.is.not(await liveId(disk), before)
    await assertModelMatchesLog(disk)
  }),
)

test(
  'that cannot be filled is reported with its error, and the other models are rebuilt',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(2)
    const [first, second, ...others] = READ_MODELS
    assert.ok(first !== undefined && second !== undefined)
    const lease = await disk.reads.acquireLease({ ...first.declaration, name: `${first.declaration.name}-rebuild` })
    const models = [first, second, ...others]
    const outcome = await rebuildAll({ ...disk, log }, models, { ...quietOperation(), leaseTimeoutMs: 0 })
    assert.equal(
      outcome.rebuilt.map(({ model }) => model),
      [second, ...others].map(({ declaration: { name } }) => name),
    )
    const { name } = first.declaration
    assert.equal(outcome.failures, [
      { model: name, error: new OperationFailure(`Another process is rebuilding ${name}`) },
    ])
    await lease?.release()
  }),
)

async function rejects(promise: Promise<unknown>, message: RegExp): Promise<void> {
  try {
    await promise
  } catch (error) {
    return assert.match(String(error), message)
  }
  assert.unreachable('it did not throw')
}

test.run()
