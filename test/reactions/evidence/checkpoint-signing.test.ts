import { generateKeyPairSync } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { CHECKPOINTS_STREAM } from '../../../src/domain/installation/keys.ts'
import { SignedCheckpoints, ForeignCheckpoint } from '../../../src/projections/tree/signed-checkpoints.ts'
import { CheckpointSigner, LogRewritten } from '../../../src/reactions/evidence/checkpoint-signing.ts'
import { merkleTree } from '../../../src/projections/tree/merkle-tree.ts'
import type {
  SubscriptionBatch,
  EventStore,
  PositionOrStart,
  StoredEvent,
  Subscription,
} from '../../../src/stores/ports/event-store.ts'
import { consumerOf, vendorOf, withDisk, type Disk } from '../../projections/engine/inventory-on-disk.ts'

const test = suite('a signed checkpoint of the log')

const { privateKey } = generateKeyPairSync('ed25519')

async function createSigner({ store, reads }: Disk, key = privateKey): Promise<CheckpointSigner> {
  const model = await reads.model(merkleTree.declaration)
  const checkpoints = new SignedCheckpoints(store, key)
  const progress = { waitForPosition: async () => true }
  return new CheckpointSigner({
    ...createCommandContext(store, () => 1_795_300_000_000),
    model,
    progress,
    checkpoints,
    key,
  })
}

/** The last signed checkpoint in the log. */
async function lastSigned(store: EventStore) {
  const [last] = await store.readStream(CHECKPOINTS_STREAM, { last: 1 })
  return last && { note: last.data['checkpoint'], revision: last.revision }
}

/** Rebuilds the tree and signs it. */
async function rebuildAndSign(disk: Disk, store: EventStore = disk.store, key = privateKey) {
  await consumerOf({ ...disk, store }, merkleTree).rebuild()
  return (await createSigner(disk, key)).sign(0)
}

test(
  'is followed by another only if events were appended',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    await vendor.create(3)
    const first = await rebuildAndSign(disk)
    assert.is(first?.revision, 0n)
    assert.is((await rebuildAndSign(disk))?.revision, 0n)
    await vendor.create(1)
    const second = await rebuildAndSign(disk)
    assert.is(second?.revision, 1n)
    assert.ok((second?.size ?? 0) > (first?.size ?? 0))
    assert.is((await lastSigned(disk.store))?.note, second?.note)
  }),
)

/** A log that was changed directly in its files. */
function rewritten(store: EventStore, rewrite: (events: StoredEvent[]) => StoredEvent[]): EventStore {
  const changed = (from: PositionOrStart): Subscription => {
    const subscription = store.subscribe(from)
    return {
      stop: () => subscription.stop(),
      async *[Symbol.asyncIterator]() {
        for await (const batch of subscription)
          yield { ...batch, events: rewrite([...batch.events]) } satisfies SubscriptionBatch
      },
    }
  }
  return { ...store, subscribe: changed }
}

const REWRITES: Readonly<Record<string, (events: StoredEvent[]) => StoredEvent[]>> = {
  changed: ([first, second, ...rest]) =>
    [first, { ...second, data: { ...second?.data, carat: 9 } }, ...rest] as StoredEvent[],
  removed: (events) => events.slice(1),
  inserted: ([first, ...rest]) => [first, { ...first, id: 'another' }, ...rest] as StoredEvent[],
  reordered: ([first, second, ...rest]) => [second, first, ...rest] as StoredEvent[],
  'cut off': (events) => events.slice(0, 2),
}

for (const [how, rewrite] of Object.entries(REWRITES)) {
  test(
    `is not followed by another if an event was ${how}`,
    withDisk(async (disk) => {
      const vendor = vendorOf(disk.store)
      await vendor.create(5)
      const signed = await rebuildAndSign(disk)
      await vendor.create(2)
      const thrown = await rebuildAndSign(disk, rewritten(disk.store, rewrite)).catch((error: unknown) => error)
      assert.instance(thrown, LogRewritten)
      assert.is((await lastSigned(disk.store))?.note, signed?.note)
      await rebuildAndSign(disk)
      assert.is((await lastSigned(disk.store))?.revision, 1n)
    }),
  )
}

test(
  'of another key is never followed by one of this key',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(2)
    await rebuildAndSign(disk)
    const other = generateKeyPairSync('ed25519').privateKey
    const thrown = await rebuildAndSign(disk, disk.store, other).catch((error: unknown) => error)
    assert.instance(thrown, ForeignCheckpoint)
  }),
)

test.run()
