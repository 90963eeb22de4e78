import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  changeDiamond,
  changeDiamonds,
  createDiamonds,
  planPatch,
  type DiamondCommandContext,
} from '../../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { OutcomeUnknown, WrongRevision } from '../../../src/stores/ports/event-store.ts'
import { rejectedWith } from '../../contract/event-store/given.ts'
import { everyAttempt, faultyStore, type FaultyStore } from '../../stores/faulty-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'

const origin = { actor: 'account-1', via: 'http', correlation: 'r-1' } as const
const principal = { owner: 1, origin }
const entry = { sku: 'A', cutShape: 2, carat: 1 }

type Given = { inventory: DiamondCommandContext; store: FaultyStore; time: { now: number } }

const test = suite<Given>('a change of several diamonds')
test.before.each(async (given) => {
  given.store = faultyStore(temporaryLog())
  given.time = { now: 1_800_000_000_000 }
  const context = { ...createCommandContext(given.store, () => given.time.now), monotonic: () => 0 }
  const diamondIds = new IdAllocator({ ...context, kind: 'diamond', size: 100, origin })
  given.inventory = { ...context, diamondIds }
})
test.after.each(({ store }) => store.close())

async function createdIds({ inventory }: Given, count: number): Promise<number[]> {
  const { created } = await createDiamonds(inventory, {
    owner: 1,
    origin,
    entries: Array.from({ length: count }, () => entry),
  })
  return created.map(({ data }) => data.id)
}

const priced = (ids: readonly number[], price: number) =>
  ids.map((id) => planPatch(id, { set: { price }, removed: [] }, principal))

const revisions = async ({ store }: Given, ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await store.readStream(`diamond-${id}`)).at(-1)?.revision))

test('waits for other changes of the same diamonds, so that none of 50 concurrent changes is refused', async (given) => {
  const ids = await createdIds(given, 10)
  await Promise.all([
    ...Array.from({ length: 40 }, (_, price) => changeDiamonds(given.inventory, principal, priced(ids, price + 1))),
    ...ids.flatMap((id) => priced([id], 1000).map((change) => changeDiamond(given.inventory, principal, change))),
  ])
  assert.equal(await revisions(given, ids), Array<bigint>(10).fill(41n))
})

test('does not deadlock with one in the opposite order', async (given) => {
  const ids = await createdIds(given, 2)
  const backwards = ids.toReversed()
  await Promise.all(
    Array.from({ length: 20 }, (_, price) =>
      changeDiamonds(given.inventory, principal, priced(price % 2 === 0 ? ids : backwards, price + 1)),
    ),
  )
  assert.equal(await revisions(given, ids), [20n, 20n])
})

for (const fault of ['stored', 'late', 'lost'] as const) {
  test(`is applied once when its append times out and is ${fault}`, async (given) => {
    const ids = await createdIds(given, 3)
    given.store.failNext(fault)
    await changeDiamonds(given.inventory, principal, priced(ids, 7))
    await given.store.storeLateAppends()
    assert.equal(await revisions(given, ids), [1n, 1n, 1n])
  })

  for (const count of [1, 3])
    test(`creates ${count} diamonds once when its append times out and is ${fault}`, async (given) => {
      await createdIds(given, 1)
      given.store.failNext(fault)
      const ids = await createdIds(given, count)
      await given.store.storeLateAppends()
      assert.equal(await revisions(given, ids), Array<bigint>(count).fill(0n))
      let births = 0
      for await (const { type } of given.store.readAll('start')) if (type === 'DiamondCreated') births++
      assert.is(births, 1 + count)
    })
}

test('never adds a new diamond to a stream that has events', async (given) => {
  const [last = 0] = await createdIds(given, 1)
  const taken = { id: '6b1f0e0c-8a55-4a0e-9d3f-0c6f8e1f1a11', type: 'DiamondDeleted', data: {}, metadata: {} }
  await given.store.append(`diamond-${last + 1}`, 'none', [taken])
  await rejectedWith(WrongRevision, createdIds(given, 1))
  assert.equal(await createdIds(given, 1), [last + 2])
  assert.equal(await revisions(given, [last + 1, last + 2]), [0n, 0n])
})

test('rejects with OutcomeUnknown when the last attempt gets no response', async (given) => {
  const ids = await createdIds(given, 2)
  given.store.failNext(...everyAttempt('lost'))
  await rejectedWith(OutcomeUnknown, changeDiamonds(given.inventory, principal, priced(ids, 7)))
  assert.equal(await revisions(given, ids), [0n, 0n])
})

test('writes timestamps that never decrease, even if the clock does', async (given) => {
  const [id = 0] = await createdIds(given, 1)
  for (const now of [5, 1_900_000_000_000, 0]) {
    given.time.now = now
    await changeDiamonds(given.inventory, principal, priced([id], now + 1))
  }
  const at = (await given.store.readStream(`diamond-${id}`)).map(({ metadata }) => metadata['at'])
  assert.equal(at, at.toSorted())
})

test.run()
