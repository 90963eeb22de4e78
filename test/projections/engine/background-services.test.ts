import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkpointModelOf, defineReaction, type Reaction } from '../../../src/projections/engine/reaction.ts'
import { defineScheduledJob } from '../../../src/projections/engine/loop.ts'
import { until } from '../../until.ts'
import { owner, withDisk, type Disk } from './inventory-on-disk.ts'
import { working } from './working.ts'

type Seen = { readonly seen: string[] }

const test = suite('what is declared to work by itself')

/** Notes the types that it sees; sets aside what it does not know. */
const noting = (more: Partial<Reaction<Seen>> = {}): Reaction<Seen> =>
  defineReaction<Seen>({
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
  } as Reaction<Seen>)

/** Runs until the reaction has come to the head of the log. */
async function follow(disk: Disk, declared: Reaction<Seen>): Promise<string[]> {
  const seen: string[] = []
  const stop = await working({ reactions: [declared] }, () => ({ seen }), disk)
  const model = await disk.reads.model(checkpointModelOf(declared.name))
  const head = disk.store.head()
  await until('the head', async () => {
    const position = await model.position()
    return head !== 'start' && position !== 'start' && position.commit >= head.commit
  })
  await stop()
  return seen
}

test(
  'reacts to the types that it names, and to those that no release before knew',
  withDisk(async (disk) => {
    const vendor = owner(disk.store)
    const [id = 0] = await vendor.create(1)
    await vendor.patch(id, { price: 5 })
    const event = { id: randomUUID(), type: 'DiamondLent', data: {}, metadata: { at: new Date().toISOString() } }
    await disk.store.append(`diamond-${id}`, 1n, [event])
    assert.equal(await follow(disk, noting()), ['DiamondCreated', 'DiamondLent'])
    const letters = await (await disk.reads.live(checkpointModelOf('noting'))).deadLetters()
    assert.equal(
      letters.map(({ type }) => type),
      ['DiamondLent'],
    )
  }),
)

test(
  'goes on behind what it has done, in the next process too',
  withDisk(async (disk) => {
    await owner(disk.store).create(2)
    assert.is((await follow(disk, noting())).length, 2)
    await owner(disk.store).create(1)
    assert.is((await follow(disk, noting())).length, 1)
  }),
)

test(
  'is left to others where it is not needed, and keeps nobody from it',
  withDisk(async (disk) => {
    await owner(disk.store).create(1)
    const seen: string[] = []
    const stop = await working({ reactions: [noting({ isNeeded: async () => false })] }, () => ({ seen }), disk)
    assert.is((await follow(disk, noting())).length, 1)
    await stop()
    assert.equal(seen, [])
  }),
)

test(
  'by the clock does its next round when a reaction wakes it, and something last when it is stopped',
  withDisk(async (disk) => {
    const done: string[] = []
    const tidying = defineScheduledJob<Seen>({
      name: 'tidying',
      intervalMs: 60_000,
      createRound:
        ({ seen }) =>
        async () =>
          void seen.push('a round'),
      onStop: async ({ seen }) => void seen.push('the last'),
    })
    const waking: Reaction<Seen & { readonly wake: (routine: string) => void }> = {
      name: 'waking',
      streamPrefixes: ['diamond-'],
      createSelfCheckpointedHandler: ({ wake }) => ({
        loadCheckpoint: async () => ({ position: 'start', event: null }),
        handleBatch: async (events) => void (events.length > 0 && wake(tidying.name)),
      }),
    }
    const stop = await working(
      { reactions: [waking], scheduledJobs: [tidying] },
      (wakes) => ({ seen: done, ...wakes }),
      disk,
    )
    await until('the first round', () => done.length === 1)
    await owner(disk.store).create(1)
    await until('the second round', () => done.length === 2)
    await stop()
    assert.equal(done, ['a round', 'a round', 'the last'])
  }),
)

test.run()
