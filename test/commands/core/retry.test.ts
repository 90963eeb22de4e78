import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withRetry, MAX_ATTEMPTS, type RetryOptions } from '../../../src/commands/core/retry.ts'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'

const test = suite('a failed action')

const lost = new WrongRevision('s', 'none', 0n)
const unknown = new OutcomeUnknown('silence')

/** Runs an action that fails with the given errors in turn; returns its result or last error, and the attempts. */
async function outcomeOf(errors: readonly Error[], options: Partial<RetryOptions> = {}) {
  let tries = 0
  const action = async (attempt: number) => {
    assert.is(attempt, ++tries)
    const error = errors[attempt - 1]
    if (error !== undefined) throw error
    return 'done'
  }
  const result = await withRetry({ on: [WrongRevision, OutcomeUnknown], ...options }, action).catch(
    (error: unknown) => error,
  )
  return { result, tries }
}

test('is retried after a conflict, however long it took', async () => {
  let now = 0
  const monotonic = () => (now += 60_000)
  assert.equal(await outcomeOf([lost, lost], { monotonic }), { result: 'done', tries: 3 })
})

test('is retried up to the maximum number of attempts, then rejects with its last error', async () => {
  const errors = Array.from({ length: MAX_ATTEMPTS }, (_, index) => new WrongRevision('s', 'none', BigInt(index)))
  assert.equal(await outcomeOf(errors), { result: errors.at(-1), tries: MAX_ATTEMPTS })
})

test('is retried after an unknown outcome within one second, and not after a later one', async () => {
  const times = [0, 10, 990, 1_010]
  const monotonic = () => times.shift() ?? Number.NaN
  assert.equal(await outcomeOf([unknown, unknown, unknown], { monotonic }), { result: unknown, tries: 3 })
})

test('is not retried when the store is unavailable, or after any other error', async () => {
  for (const error of [new StoreUnavailable('away'), new TypeError('a fault of ours')])
    assert.equal(await outcomeOf([error]), { result: error, tries: 1 })
  assert.equal(await outcomeOf([unknown], { on: [WrongRevision] }), { result: unknown, tries: 1 })
})

test('reports each error that leads to a retry', async () => {
  const reported: Error[] = []
  await outcomeOf([lost, unknown], { onRetry: (error) => reported.push(error) })
  assert.equal(reported, [lost, unknown])
})

test.run()
