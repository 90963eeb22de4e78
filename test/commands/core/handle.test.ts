import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MAX_ATTEMPTS } from '../../../src/commands/core/retry.ts'
import { handle } from '../../../src/commands/core/handle.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import type { Fold } from '../../../src/domain/fold.ts'
import {
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
  type EventStore,
} from '../../../src/stores/ports/event-store.ts'
import { newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { everyAttempt, faultyStore, type FaultyStore } from '../../stores/faulty-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { fixedClock } from '../../fixed-clock.ts'

type Counted = { readonly type: 'IdsReserved'; readonly data: { readonly from: number; readonly to: number } }

/** A sum with one event per command, so that an event applied twice is visible. */
const sum: Fold<number, Counted> = { initialState: 0, evolve: (total, { data }) => total + data.to }
const add = (by: number) => (): Counted[] => [{ type: 'IdsReserved', data: { from: 1, to: by } }]
const origin = { actor: 'tests', via: 'http', correlation: 'r-1' } as const

type Given = { store: FaultyStore; stream: string; time: { now: number } }

const test = suite<Given>('a command')
test.before.each(async (given) => {
  given.store = faultyStore(temporaryLog())
  given.stream = newStream()
  given.time = { now: 1_000_000 }
})
test.after.each(({ store }) => store.close())

const context = ({ store, time }: Given, wrapped: EventStore = store) => ({
  ...createCommandContext(wrapped, () => time.now),
  monotonic: () => 0,
})

const sumOf = async ({ store, stream }: Given) =>
  (await store.readStream(stream)).reduce((total, { data }) => total + Number(data['to']), 0)

test('whose append times out but was stored succeeds, and is applied once', async (given) => {
  given.store.failNext('stored')
  const { state, events, revision, position } = await handle(
    context(given),
    { stream: given.stream, id: 'w', origin },
    sum,
    add(5),
  )
  const [stored] = await given.store.readStream(given.stream)
  assert.equal([state, events.length, revision, position], [5, 1, 0n, stored?.position])
  assert.is(await sumOf(given), 5)
})

test('whose append times out and is stored during the retry is applied once', async (given) => {
  given.store.failNext('late')
  const target = { stream: given.stream, id: 'w', origin }
  const landing: EventStore = {
    ...given.store,
    // The second attempt loads the stream, then the first append arrives. There is nothing to land before that.
    readStream: async (stream, options) => {
      const before = await given.store.readStream(stream, options)
      await given.store.storeLateAppends()
      return before
    },
  }
  const { state, revision } = await handle(context(given, landing), target, sum, add(5))
  assert.equal([state, revision], [5, 0n])
  assert.is(await sumOf(given), 5)
})

test('whose append arrives after its retry is applied once', async (given) => {
  given.store.failNext('late')
  await handle(context(given), { stream: given.stream, id: 'w', origin }, sum, add(5))
  await given.store.storeLateAppends()
  assert.is(await sumOf(given), 5)
})

const decidedAgain = (): never => {
  throw new Error('it was decided before')
}

test('that was stored is recognized by its events when it is sent again, and not decided again', async (given) => {
  const target = { stream: given.stream, id: 'w', origin }
  await handle(context(given), target, sum, add(5))
  await handle(context(given), { ...target, id: 'other' }, sum, add(1))
  const again = await handle(context(given), target, sum, decidedAgain)
  assert.is(again.events.length, 1)
  assert.is(await sumOf(given), 6)
})

test('succeeds when only its last attempt is not lost', async (given) => {
  given.store.failNext(...everyAttempt('lost').slice(1))
  const { state } = await handle(context(given), { stream: given.stream, id: 'w', origin }, sum, add(5))
  assert.equal([state, await sumOf(given)], [5, 5])
})

test('whose outcome stays unknown rejects with OutcomeUnknown', async (given) => {
  given.store.failNext(...everyAttempt('lost'))
  await rejectedWith(OutcomeUnknown, handle(context(given), { stream: given.stream, id: 'w', origin }, sum, add(5)))
  assert.is(await sumOf(given), 0)
})

test('is not retried when the store is unavailable', async (given) => {
  given.store.failNext('unavailable')
  await rejectedWith(StoreUnavailable, handle(context(given), { stream: given.stream, id: 'w', origin }, sum, add(5)))
  assert.is(await sumOf(given), 0)
})

/** Another process writes to the stream right before each of the first `count` appends. */
function contended({ store, stream }: Given, count: number): EventStore {
  let remaining = count
  return {
    ...store,
    append: async (name, expected, events) => {
      if (remaining-- > 0)
        await handle(createCommandContext(store, fixedClock), { stream, id: `o-${remaining}`, origin }, sum, add(100))
      return store.append(name, expected, events)
    },
  }
}

test('decides again after each conflict and succeeds on the last attempt', async (given) => {
  const seen: number[] = []
  const { state } = await handle(
    context(given, contended(given, MAX_ATTEMPTS - 1)),
    { stream: given.stream, id: 'w', origin },
    sum,
    (total) => {
      seen.push(total)
      return add(1)()
    },
  )
  assert.equal(
    seen,
    Array.from({ length: MAX_ATTEMPTS }, (_, races) => 100 * races),
  )
  assert.is(state, 100 * (MAX_ATTEMPTS - 1) + 1)
})

test('is refused after a conflict on every attempt', async (given) => {
  const losing = context(given, contended(given, MAX_ATTEMPTS))
  await rejectedWith(WrongRevision, handle(losing, { stream: given.stream, id: 'w', origin }, sum, add(1)))
  assert.is(await sumOf(given), 100 * MAX_ATTEMPTS)
})

test('waits for earlier commands on its stream in this process: 100 commands decide once each, in order', async (given) => {
  const own = context(given)
  const seen: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      handle(own, { stream: given.stream, id: `w-${index}`, origin }, sum, (total) => {
        seen.push(total)
        return add(1)()
      }),
    ),
  )
  assert.is(await sumOf(given), 100)
  assert.equal(
    seen,
    Array.from({ length: 100 }, (_, total) => total),
  )
})

test('that fails does not block the next command on its stream', async (given) => {
  const own = context(given)
  const refuse = (): Counted[] => {
    throw new RangeError('no')
  }
  const failing = handle(own, { stream: given.stream, id: 'w-1', origin }, sum, refuse)
  const next = handle(own, { stream: given.stream, id: 'w-2', origin }, sum, add(2))
  await rejectedWith(RangeError, failing)
  assert.is((await next).state, 2)
})

test('writes timestamps that never decrease within a stream, even if the clock does', async (given) => {
  const times = [1_000_000, 400_000, 1_000_001, 5]
  for (const [index, now] of times.entries()) {
    given.time.now = now
    await handle(context(given), { stream: given.stream, id: `w-${index}`, origin }, sum, (_state, at) => {
      assert.ok(at >= 1_000_000)
      return add(1)()
    })
  }
  const at = (await given.store.readStream(given.stream)).map(({ metadata }) => Date.parse(metadata['at'] ?? ''))
  assert.equal(at, [1_000_000, 1_000_000, 1_000_001, 1_000_001])
})

test('that decides no events writes none', async (given) => {
  const { position, revision } = await handle(context(given), { stream: given.stream, id: 'w', origin }, sum, () => [])
  assert.equal([position, revision], [undefined, 'none'])
  assert.equal(await given.store.readStream(given.stream), [])
})

test.run()
