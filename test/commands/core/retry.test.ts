import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withRetry, MAX_ATTEMPTS, type RetryOptions } from '../../../src/commands/core/retry.ts'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'

const test = suite('an action that failed')

const lost = new WrongRevision('s', 'none', 0n)
const unknown = new OutcomeUnknown('silence')

/** What comes of an action that fails with one error after another, and how often it was tried. */
async function outcomeOf(errors: readonly Error[], options: Partial<RetryOptions> = {}) {
  let tries = 0
  const action = async (attempt: number) => {
    assert.is(attempt, ++tries)
    const error = errors[attempt - 1]
    if (error !== undefined) throw error
    return 'done'
  }
  const came = await withRetry({ on: [WrongRevision, OutcomeUnknown], ...options }, action).catch(
    (error: unknown) => error,
  )
  return { came, tries }
}

test('is tried again after a lost race, however long it took', async () => {
  let now = 0
  const monotonic = () => (now += 60_000)
  assert.equal(await outcomeOf([lost, lost], { monotonic }), { came: 'done', tries: 3 })
})

test('is tried so often, and then its last error is told', async () => {
  const errors = Array.from({ length: MAX_ATTEMPTS }, (_, index) => new WrongRevision('s', 'none', BigInt(index)))
  assert.equal(await outcomeOf(errors), { came: errors.at(-1), tries: MAX_ATTEMPTS })
})

test('is tried again after an unknown outcome that came soon, and not after one that took a second', async () => {
  const times = [0, 10, 990, 1_010]
  const monotonic = () => times.shift() ?? Number.NaN
  assert.equal(await outcomeOf([unknown, unknown, unknown], { monotonic }), { came: unknown, tries: 3 })
})

test('is not tried again where the store is away, or for any other reason', async () => {
  for (const error of [new StoreUnavailable('away'), new TypeError('a fault of ours')])
    assert.equal(await outcomeOf([error]), { came: error, tries: 1 })
  assert.equal(await outcomeOf([unknown], { on: [WrongRevision] }), { came: unknown, tries: 1 })
})

test('tells each error that it is tried again after', async () => {
  const told: Error[] = []
  await outcomeOf([lost, unknown], { onRetry: (error) => told.push(error) })
  assert.equal(told, [lost, unknown])
})

test.run()
