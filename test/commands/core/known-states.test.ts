import { attach, create, detach, diamondDecider } from '../../../src/domain/diamond/diamond.ts'
import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handle, createCommandContext, type CommandContext } from '../../../src/commands/core/handle.ts'
import { RequestError, type Decider } from '../../../src/domain/decider.ts'
import { changeDiamond, changeDiamonds, planDelete, planPatch } from '../../../src/commands/diamonds/diamonds.ts'
import type { DiamondFieldChanges } from '../../../src/domain/diamond/fields.ts'
import { OutcomeUnknown, StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { everyTry, faultyStore, type AppendFault, type FaultyStore } from '../../stores/faulty-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'

type Added = { readonly type: 'IdsReserved'; readonly data: { readonly from: number; readonly to: number } }

const sum: Decider<number, Added> = { initialState: 0, evolve: (total, { data }) => total + data.to - data.from }
const add = (by: number) => (): Added[] => [{ type: 'IdsReserved', data: { from: 100, to: 100 + by } }]
/** Refuses where there is more than `most`, and has nothing to do where there is exactly that. */
const addUpTo = (most: number) => (total: number) => {
  if (total > most) throw new RequestError('conflict', `there is ${total} already`)
  return total === most ? [] : add(most - total)()
}
const origin = { actor: 'tests', via: 'http', correlation: 'r-1' } as const
const clock = () => 1_800_000_000_000

type Given = {
  store: FaultyStore
  wish: { stream: string; origin: typeof origin }
  one: CommandContext
  other: CommandContext
}

const test = suite<Given>('a command on a stream that its process knows')
test.before.each(async (given) => {
  given.store = faultyStore(temporaryLog())
  given.wish = { stream: newStream(), origin }
  given.one = { ...createCommandContext(given.store, clock), monotonic: () => 0 }
  given.other = createCommandContext(given.store, clock)
})
test.after.each(({ store }) => store.close())

test('needs no reading', async ({ store, wish, one }) => {
  await handle(one, wish, sum, add(1))
  const unreadable: EventStore = { ...store, read: () => Promise.reject(new StoreUnavailable('it can not be read')) }
  const { state, revision } = await handle({ ...one, store: unreadable }, wish, sum, add(2))
  assert.equal([state, revision], [3, 1n])
})

test('is never lost nor refused where two processes take turns', async ({ store, wish, one, other }) => {
  for (let turn = 1; turn <= 50; turn++) {
    const { state } = await handle(turn % 2 === 0 ? one : other, wish, sum, add(1))
    assert.is(state, turn)
  }
  assert.is((await store.read(wish.stream)).length, 50)
})

test('is never lost where two processes write at once', async ({ store, wish, one, other }) => {
  await Promise.all([one, other].flatMap((each) => [1, 2].map(() => handle(each, wish, sum, add(1)))))
  assert.is((await store.read(wish.stream)).length, 4)
})

test('is not refused for how the stream was before another process changed it', async ({ wish, one, other }) => {
  await handle(one, wish, sum, add(5))
  await handle(other, wish, sum, add(-5))
  assert.is((await handle(one, wish, sum, addUpTo(3))).state, 3)
})

test('is refused for what another process has made of the stream', async ({ wish, one, other }) => {
  await handle(one, wish, sum, add(1))
  await handle(other, wish, sum, add(5))
  await rejectedWith(RequestError, handle(one, wish, sum, addUpTo(3)))
})

test('has something to do where another process has undone it', async ({ wish, one, other }) => {
  await handle(one, wish, sum, add(3))
  await handle(other, wish, sum, add(-1))
  assert.is((await handle(one, wish, sum, addUpTo(3))).events.length, 1)
})

test('that was wanted before, by any process, is found and not repeated', async ({ store, wish, one, other }) => {
  const named = { ...wish, id: 'w' }
  await handle(one, wish, sum, add(1))
  await handle(other, named, sum, add(5))
  await handle(one, wish, sum, add(1))
  assert.is((await handle(one, named, sum, add(5))).events.length, 1)
  assert.is((await store.read(wish.stream)).length, 3)
})

for (const fault of ['lost', 'stored', 'late'] as const) {
  test(`is applied once where its append times out and is ${fault}`, async ({ store, wish, one }) => {
    await handle(one, wish, sum, add(1))
    store.failNext(fault)
    assert.is((await handle(one, wish, sum, add(5))).state, 6)
    await store.land()
    assert.is((await handle(one, wish, sum, add(1))).state, 7)
    assert.is((await store.read(wish.stream)).length, 3)
  })
}

test('is on what was stored after an outcome that stayed unknown', async ({ store, wish, one }) => {
  await handle(one, wish, sum, add(1))
  const faults: AppendFault[] = ['late', ...everyTry('lost').slice(1)]
  store.failNext(...faults)
  await rejectedWith(OutcomeUnknown, handle(one, wish, sum, add(5)))
  await store.land()
  assert.is((await handle(one, wish, sum, add(1))).state, 7)
})

test('never goes back in time, when the clock does', async ({ store, wish, one }) => {
  await handle(one, wish, sum, add(1))
  await handle({ ...one, clock: () => 5 }, wish, sum, add(1))
  const at = (await store.read(wish.stream)).map(({ metadata }) => Date.parse(metadata['at'] ?? ''))
  assert.equal(at, [clock(), clock()])
})

const by = (owner: number) => ({ owner, origin })
const IDS = [1, 2, 3]

/** What a caller can want of diamonds 1 to 3. `seen` is how many revisions back If-Match looks. */
type Wanted =
  | { readonly what: 'create' | 'remove' | 'attach' | 'detach'; readonly id: number; readonly owner: number }
  | {
      readonly what: 'patch'
      readonly id: number
      readonly owner: number
      readonly change: DiamondFieldChanges
      readonly match: number
    }
  | { readonly what: 'patch all'; readonly owner: number; readonly change: DiamondFieldChanges }

const id = fc.constantFrom(...IDS)
const owner = fc.constantFrom(1, 1, 1, 1, 2)
const change: fc.Arbitrary<DiamondFieldChanges> = fc.record({
  set: fc.record({ price: fc.integer({ min: 1, max: 3 }), sku: fc.constantFrom('A', 'B') }, { requiredKeys: [] }),
  removed: fc.constantFrom([], ['price' as const]),
})
const wanted: fc.Arbitrary<Wanted> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant('create' as const), id, owner: fc.constant(1) }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('patch' as const), id, owner, change, match: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('patch all' as const), owner, change }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('remove', 'attach', 'detach'), id, owner }) },
)

/** What comes of a wish, as its caller sees it. */
async function outcomeOf(writing: CommandContext, want: Wanted, step: number): Promise<unknown> {
  try {
    return { ...(await wish(writing, want, step)), position: undefined }
  } catch (error) {
    if (error instanceof RequestError) return `${error.kind}: ${error.message}`
    throw error
  }
}

async function wish(writing: CommandContext, want: Wanted, step: number): Promise<object> {
  if (want.what === 'patch all') {
    return changeDiamonds(
      writing,
      by(want.owner),
      IDS.map((each) => planPatch(each, want.change, by(want.owner))),
    )
  }
  const to = { stream: `diamond-${want.id}`, origin }
  const at = { diamond: want.id, owner: want.owner }
  switch (want.what) {
    case 'create':
      return handle(writing, to, diamondDecider, ({ status }) =>
        status === 'unknown' ? [create(want.id, want.owner, { sku: 'A', cutShape: 2, carat: 1 }, clock())] : [],
      )
    case 'patch': {
      const match = want.match > 2 ? undefined : [BigInt(want.match + Math.floor(step / 4))]
      return changeDiamond(writing, by(want.owner), planPatch(want.id, want.change, by(want.owner)), match)
    }
    case 'remove':
      return changeDiamond(writing, by(want.owner), planDelete(want.id, by(want.owner)))
    case 'attach':
      return handle(writing, to, diamondDecider, (diamond) =>
        attach(diamond, at, step, { laboratory: 'GIA', number: 'N', file: null }),
      )
    case 'detach':
      return handle(writing, to, diamondDecider, (diamond) => detach(diamond, step - 2, want.owner))
  }
}

const written = async (store: EventStore) =>
  (await Promise.all(IDS.map((each) => store.read(`diamond-${each}`)))).map((events) =>
    events.map(({ type, data, revision }) => ({ type, data, revision })),
  )

test('has the outcome that it would have without, whichever of two processes it comes to', async () => {
  const steps = fc.array(fc.tuple(fc.boolean(), wanted), { minLength: 10, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(steps, async (wants) => {
      const [knowing, plain] = [temporaryLog(), temporaryLog()]
      try {
        const processes = [createCommandContext(knowing, clock), createCommandContext(knowing, clock)]
        for (const [step, [first, want]] of wants.entries()) {
          const found = await outcomeOf(processes[first ? 0 : 1] as CommandContext, want, step)
          assert.equal(found, await outcomeOf(createCommandContext(plain, clock), want, step))
        }
        assert.equal(await written(knowing), await written(plain))
      } finally {
        await Promise.all([knowing.close(), plain.close()])
      }
    }),
    { numRuns: process.env['ADAMANT_FULL'] === '1' ? 300 : 25 },
  )
})

test.run()
