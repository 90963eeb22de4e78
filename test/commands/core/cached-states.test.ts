import { attach, create, detach, diamondFold } from '../../../src/domain/diamond/diamond.ts'
import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handle } from '../../../src/commands/core/handle.ts'
import { createCommandContext, type CommandContext } from '../../../src/commands/core/command-context.ts'
import type { Fold } from '../../../src/domain/fold.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { changeDiamond, changeDiamonds, planDelete, planPatch } from '../../../src/commands/diamonds/diamonds.ts'
import type { DiamondFieldChanges } from '../../../src/domain/diamond/fields.ts'
import { OutcomeUnknown, StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { everyAttempt, faultyStore, type AppendFault, type FaultyStore } from '../../stores/faulty-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'

type Added = { readonly type: 'IdsReserved'; readonly data: { readonly from: number; readonly to: number } }

const sum: Fold<number, Added> = { initialState: 0, evolve: (total, { data }) => total + data.to - data.from }
const add = (by: number) => (): Added[] => [{ type: 'IdsReserved', data: { from: 100, to: 100 + by } }]
/** Adds up to `most`. Refused if the total is greater; decides no events if it is equal. */
const addUpTo = (most: number) => (total: number) => {
  if (total > most) throw new RequestError('conflict', `there is ${total} already`)
  return total === most ? [] : add(most - total)()
}
const origin = { actor: 'tests', via: 'http', correlation: 'r-1' } as const
const clock = () => 1_800_000_000_000

type Given = {
  store: FaultyStore
  target: { stream: string; origin: typeof origin }
  one: CommandContext
  other: CommandContext
}

const test = suite<Given>('a command on a stream with a cached state')
test.before.each(async (given) => {
  given.store = faultyStore(temporaryLog())
  given.target = { stream: newStream(), origin }
  given.one = { ...createCommandContext(given.store, clock), monotonic: () => 0 }
  given.other = createCommandContext(given.store, clock)
})
test.after.each(({ store }) => store.close())

test('does not read the stream', async ({ store, target, one }) => {
  await handle(one, target, sum, add(1))
  const unreadable: EventStore = { ...store, readStream: () => Promise.reject(new StoreUnavailable('unreadable')) }
  const { state, revision } = await handle({ ...one, store: unreadable }, target, sum, add(2))
  assert.equal([state, revision], [3, 1n])
})

test('is never lost or refused when two processes take turns', async ({ store, target, one, other }) => {
  for (let turn = 1; turn <= 50; turn++) {
    const { state } = await handle(turn % 2 === 0 ? one : other, target, sum, add(1))
    assert.is(state, turn)
  }
  assert.is((await store.readStream(target.stream)).length, 50)
})

test('is never lost when two processes write concurrently', async ({ store, target, one, other }) => {
  await Promise.all([one, other].flatMap((each) => [1, 2].map(() => handle(each, target, sum, add(1)))))
  assert.is((await store.readStream(target.stream)).length, 4)
})

test('is not refused on the basis of a stale state', async ({ target, one, other }) => {
  await handle(one, target, sum, add(5))
  await handle(other, target, sum, add(-5))
  assert.is((await handle(one, target, sum, addUpTo(3))).state, 3)
})

test('is refused on the basis of what another process wrote', async ({ target, one, other }) => {
  await handle(one, target, sum, add(1))
  await handle(other, target, sum, add(5))
  await rejectedWith(RequestError, handle(one, target, sum, addUpTo(3)))
})

test('decides again when another process has undone its effect', async ({ target, one, other }) => {
  await handle(one, target, sum, add(3))
  await handle(other, target, sum, add(-1))
  assert.is((await handle(one, target, sum, addUpTo(3))).events.length, 1)
})

test('that any process has already handled is recognized and not repeated', async ({ store, target, one, other }) => {
  const named = { ...target, id: 'w' }
  await handle(one, target, sum, add(1))
  await handle(other, named, sum, add(5))
  await handle(one, target, sum, add(1))
  assert.is((await handle(one, named, sum, add(5))).events.length, 1)
  assert.is((await store.readStream(target.stream)).length, 3)
})

for (const fault of ['lost', 'stored', 'late'] as const) {
  test(`is applied once when its append times out and is ${fault}`, async ({ store, target, one }) => {
    await handle(one, target, sum, add(1))
    store.failNext(fault)
    assert.is((await handle(one, target, sum, add(5))).state, 6)
    await store.storeLateAppends()
    assert.is((await handle(one, target, sum, add(1))).state, 7)
    assert.is((await store.readStream(target.stream)).length, 3)
  })
}

test('sees what was stored after an unknown outcome', async ({ store, target, one }) => {
  await handle(one, target, sum, add(1))
  const faults: AppendFault[] = ['late', ...everyAttempt('lost').slice(1)]
  store.failNext(...faults)
  await rejectedWith(OutcomeUnknown, handle(one, target, sum, add(5)))
  await store.storeLateAppends()
  assert.is((await handle(one, target, sum, add(1))).state, 7)
})

test('writes timestamps that never decrease, even if the clock does', async ({ store, target, one }) => {
  await handle(one, target, sum, add(1))
  await handle({ ...one, clock: () => 5 }, target, sum, add(1))
  const at = (await store.readStream(target.stream)).map(({ metadata }) => Date.parse(metadata['at'] ?? ''))
  assert.equal(at, [clock(), clock()])
})

const principal = (owner: number) => ({ owner, origin })
const IDS = [1, 2, 3]

/** A command on the diamonds 1 to 3. `match` selects the revision in If-Match. */
type TestCommand =
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
const anyCommand: fc.Arbitrary<TestCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant('create' as const), id, owner: fc.constant(1) }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('patch' as const), id, owner, change, match: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('patch all' as const), owner, change }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('remove', 'attach', 'detach'), id, owner }) },
)

/** The outcome of a command as its caller sees it. */
async function outcomeOf(context: CommandContext, command: TestCommand, step: number): Promise<unknown> {
  try {
    return { ...(await execute(context, command, step)), position: undefined }
  } catch (error) {
    if (error instanceof RequestError) return `${error.kind}: ${error.message}`
    throw error
  }
}

async function execute(context: CommandContext, command: TestCommand, step: number): Promise<object> {
  if (command.what === 'patch all') {
    return changeDiamonds(
      context,
      principal(command.owner),
      IDS.map((each) => planPatch(each, command.change, principal(command.owner))),
    )
  }
  const diamondTarget = { stream: `diamond-${command.id}`, origin }
  const at = { diamond: command.id, owner: command.owner }
  switch (command.what) {
    case 'create':
      return handle(context, diamondTarget, diamondFold, ({ status }) =>
        status === 'unknown' ? [create(command.id, command.owner, { sku: 'A', cutShape: 2, carat: 1 }, clock())] : [],
      )
    case 'patch': {
      const match = command.match > 2 ? undefined : [BigInt(command.match + Math.floor(step / 4))]
      return changeDiamond(
        context,
        principal(command.owner),
        planPatch(command.id, command.change, principal(command.owner)),
        match,
      )
    }
    case 'remove':
      return changeDiamond(context, principal(command.owner), planDelete(command.id, principal(command.owner)))
    case 'attach':
      return handle(context, diamondTarget, diamondFold, (diamond) =>
        attach(diamond, at, step, { laboratory: 'GIA', number: 'N', file: null }),
      )
    case 'detach':
      return handle(context, diamondTarget, diamondFold, (diamond) => detach(diamond, step - 2, command.owner))
  }
}

const written = async (store: EventStore) =>
  (await Promise.all(IDS.map((each) => store.readStream(`diamond-${each}`)))).map((events) =>
    events.map(({ type, data, revision }) => ({ type, data, revision })),
  )

test('has the same outcome as without the cache, in either of two processes', async () => {
  const steps = fc.array(fc.tuple(fc.boolean(), anyCommand), { minLength: 10, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      const [cached, uncached] = [temporaryLog(), temporaryLog()]
      try {
        const processes = [createCommandContext(cached, clock), createCommandContext(cached, clock)]
        for (const [step, [first, command]] of commands.entries()) {
          const found = await outcomeOf(processes[first ? 0 : 1] as CommandContext, command, step)
          assert.equal(found, await outcomeOf(createCommandContext(uncached, clock), command, step))
        }
        assert.equal(await written(cached), await written(uncached))
      } finally {
        await Promise.all([cached.close(), uncached.close()])
      }
    }),
    { numRuns: process.env['ADAMANT_FULL'] === '1' ? 300 : 25 },
  )
})

test.run()
