import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { retryStreams } from '../../../src/commands/installation/retry-streams.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import type { DiamondRecord } from '../../../src/projections/diamonds/diamond-record.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import type { Projection } from '../../../src/projections/engine/read-model.ts'
import {
  StoreUnavailable,
  type EventStore,
  type NewEvent,
  type Revision,
} from '../../../src/stores/ports/event-store.ts'
import type { ReadModelBuild, ReadStore } from '../../../src/stores/ports/read-store.ts'
import {
  DEADLINE,
  assertModelMatchesLog,
  origin,
  vendorOf,
  project,
  runnerOf,
  withDisk,
  type Disk,
} from './inventory-on-disk.ts'
import { readView } from '../diamonds/read-view.ts'
import { fixedClock } from '../../fixed-clock.ts'

const test = suite('a parked stream')

/** A release of the projection that fails on a price of 13. */
const failingOnPrice13: Projection<DiamondRecord> = {
  ...diamonds,
  evolve(known, event, number) {
    if ((event.data['set'] as { price?: unknown } | undefined)?.price === 13) throw new Error('13 is unlucky')
    return diamonds.evolve(known, event, number)
  },
}

async function projectWith(projection: Projection<DiamondRecord>, { store, reads }: Pick<Disk, 'store' | 'reads'>) {
  const runner = runnerOf({ store, reads }, projection)
  runner.start()
  assert.ok(await runner.progress.waitForPosition(await store.head(), DEADLINE))
  await runner.stop()
}

const retry = (store: EventStore, ...streams: string[]) =>
  retryStreams(createCommandContext(store, fixedClock), { model: 'diamonds', streams }, origin)

const append = (store: EventStore, stream: string, type: string, data: NewEvent['data'], after: Revision = 'none') =>
  store.append(stream, after, [{ id: randomUUID(), type, data, metadata: toEventMetadata(origin, Date.now()) }])

const parkedStreams = async (reads: ReadStore) => [...(await (await reads.model(diamonds.declaration)).parkedStreams())]

const scoresFor = (id: number, revision: number) => ({
  id,
  revision,
  scores: { ...NO_SCORES, spread: { ...SPREAD, pc: revision } },
})
const NO_SCORES = { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }
const SPREAD = { ct: 0, pc: 0, d: 0.1, ver: '1.0.0' }

test(
  'is folded from its start when it is retried, with the scores that were appended meanwhile',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [a = 0, b = 0, c = 0] = await vendor.create(4)
    await vendor.patch(a, { price: 13 })
    await vendor.patch(a, { carat: 2 })
    await append(disk.store, `scores-${a}`, 'DiamondScored', scoresFor(a, 2))
    await vendor.patch(b, { price: 13 })
    await vendor.remove(b)
    await vendor.patch(c, { price: 12 })
    await projectWith(failingOnPrice13, disk)
    assert.equal((await parkedStreams(disk.reads)).toSorted(), [`diamond-${a}`, `diamond-${b}`].toSorted())

    await retry(disk.store, `diamond-${a}`, `diamond-${b}`)
    await vendor.patch(a, { sku: 'GOES-ON' })
    await project(disk)

    assert.equal(await parkedStreams(disk.reads), [])
    assert.equal(await (await disk.reads.live(diamonds.declaration)).deadLetters(), [])
    await assertModelMatchesLog(disk)
  }),
)

test(
  'stays parked if the retry fails again, and blocks no other stream',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    const [a = 0, b = 0] = await vendor.create(2)
    await vendor.patch(a, { price: 13 })
    await projectWith(failingOnPrice13, { store, reads })
    await retry(store, `diamond-${a}`)
    await vendor.patch(a, { price: 14 })
    await vendor.patch(b, { price: 15 })
    await projectWith(failingOnPrice13, { store, reads })

    const letters = await (await reads.live(diamonds.declaration)).deadLetters()
    assert.equal(
      letters.map(({ stream, revision, reason }) => [stream, revision, reason]),
      [
        [`diamond-${a}`, 1n, 'Error: 13 is unlucky'],
        [`diamond-${a}`, 2n, 'Error: an earlier event of this stream is parked'],
      ],
    )
    const model = await reads.model(diamonds.declaration)
    assert.is((await readView(model, b)).diamond.fields.price, 15)
    await retry(store, `diamond-${a}`)
    await project({ store, reads })
    await assertModelMatchesLog({ store, reads })
  }),
)

/** A read store whose first write after a stream was unparked fails. */
function failingAfterRelease(reads: ReadStore): ReadStore & { readonly failed: () => boolean } {
  let state: 'waiting' | 'released' | 'failed' = 'waiting'
  const wrapped = (build: ReadModelBuild): ReadModelBuild => ({
    ...build,
    async unpark(stream) {
      await build.unpark(stream)
      if (state === 'waiting') state = 'released'
    },
    async write(...batch) {
      if (state === 'released') {
        state = 'failed'
        throw new StoreUnavailable('injected failure between the unparking and the write')
      }
      await build.write(...batch)
    },
  })
  return {
    ...reads,
    failed: () => state === 'failed',
    live: async (declaration) => wrapped(await reads.live(declaration)),
  }
}

test(
  'is folded even if the read store fails after it was unparked',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    const [a = 0] = await vendor.create(2)
    await vendor.patch(a, { price: 13 })
    await projectWith(failingOnPrice13, { store, reads })
    await retry(store, `diamond-${a}`)
    const failing = failingAfterRelease(reads)
    await project({ store, reads: failing })
    assert.ok(failing.failed())
    await assertModelMatchesLog({ store, reads })
    assert.equal(await parkedStreams(reads), [])
  }),
)

test(
  'is not retried by an unreadable request or by one that names streams of other models',
  withDisk(async ({ store, reads }) => {
    const vendor = vendorOf(store)
    await vendor.create(2)
    await retry(store, 'account-1', 'retries-diamonds')
    await append(store, 'retries-diamonds', 'RetryRequested', { streams: 7 }, 0n)
    await vendor.create(1)
    await project({ store, reads })
    await assertModelMatchesLog({ store, reads })
  }),
)

test.run()
