import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkpointModelOf, defineReaction, type Reaction } from '../../../src/projections/engine/reaction.ts'
import { defineScheduledJob } from '../../../src/projections/engine/loop.ts'
import { until } from '../../until.ts'
import { vendorOf, withDisk, type Disk } from './inventory-on-disk.ts'
import { startBackgroundServices } from './start-background-services.ts'

type SeenTypes = { readonly seen: string[] }

const test = suite('a background service')

/** Records the types of the events that it receives, and reports unknown types as failed. */
const recordingReaction = (more: Partial<Reaction<SeenTypes>> = {}): Reaction<SeenTypes> =>
  defineReaction<SeenTypes>({
    name: 'noting',
    streamPrefixes: ['diamond-'],
    eventTypes: ['DiamondCreated'],
    createHandler:
      ({ seen }) =>
      async (events) => {
        seen.push(...events.map(({ type }) => type))
        return events
          .filter(({ type }) => type !== 'DiamondCreated')
          .map((event) => ({ event, error: new Error('unknown') }))
      },
    ...more,
  } as Reaction<SeenTypes>)

/** Runs the reaction until it reaches the head of the log. @returns the event types that it received */
async function runToHead(disk: Disk, declared: Reaction<SeenTypes>): Promise<string[]> {
  const seen: string[] = []
  const stop = await startBackgroundServices({ reactions: [declared] }, () => ({ seen }), disk)
  const model = await disk.reads.model(checkpointModelOf(declared.name))
  const head = await disk.store.head()
  await until('the head', async () => {
    const position = await model.position()
    return head !== 'start' && position !== 'start' && position.commit >= head.commit
  })
  await stop()
  return seen
}

test(
  'receives the event types that it declares and those that this release does not know',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(1)
    await vendor.patch(id, { price: 5 })
    const event = { id: randomUUID(), type: 'DiamondLent', data: {}, metadata: { at: new Date().toISOString() } }
    await disk.store.append(`diamond-${id}`, 1n, [event])
    assert.equal(await runToHead(disk, recordingReaction()), ['DiamondCreated', 'DiamondLent'])
    const letters = await (await disk.reads.live(checkpointModelOf('noting'))).deadLetters()
    assert.equal(
      letters.map(({ type }) => type),
      ['DiamondLent'],
    )
  }),
)

test(
  'resumes from its checkpoint in the next process',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(2)
    assert.is((await runToHead(disk, recordingReaction())).length, 2)
    await vendorOf(disk.store).create(1)
    assert.is((await runToHead(disk, recordingReaction())).length, 1)
  }),
)

test(
  'that is not needed does nothing, and does not prevent another process from running it',
  withDisk(async (disk) => {
    await vendorOf(disk.store).create(1)
    const seen: string[] = []
    const stop = await startBackgroundServices(
      { reactions: [recordingReaction({ isNeeded: async () => false })] },
      () => ({ seen }),
      disk,
    )
    assert.is((await runToHead(disk, recordingReaction())).length, 1)
    await stop()
    assert.equal(seen, [])
  }),
)

test(
  'on a schedule starts its next round when a reaction wakes it, and runs its stop hook when it is stopped',
  withDisk(async (disk) => {
    const done: string[] = []
    const tidying = defineScheduledJob<SeenTypes>({
      name: 'tidying',
      intervalMs: 60_000,
      createRound:
        ({ seen }) =>
        async () =>
          void seen.push('a round'),
      onStop: async ({ seen }) => void seen.push('the last'),
    })
    const waking: Reaction<SeenTypes & { readonly wake: (routine: string) => void }> = {
      name: 'waking',
      streamPrefixes: ['diamond-'],
      createSelfCheckpointedHandler: ({ wake }) => ({
        loadCheckpoint: async () => ({ position: 'start', event: null }),
        handleBatch: async (events) => void (events.length > 0 && wake(tidying.name)),
      }),
    }
    const stop = await startBackgroundServices(
      { reactions: [waking], scheduledJobs: [tidying] },
      (wakes) => ({ seen: done, ...wakes }),
      disk,
    )
    await until('the first round', () => done.length === 1)
    await vendorOf(disk.store).create(1)
    await until('the second round', () => done.length === 2)
    await stop()
    assert.equal(done, ['a round', 'a round', 'the last'])
  }),
)

test.run()
