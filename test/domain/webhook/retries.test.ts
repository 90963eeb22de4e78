import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decideRetry } from '../../../src/domain/webhook/webhook.ts'

const test = suite('a failed delivery')

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAYS = 24 * HOUR

test('starts counting failures at 1 from now', () => {
  assert.equal(decideRetry(null, 1_000), {
    failures: { count: 1, since: 1_000 },
    nextAttemptAt: 6_000,
    isPastFailingThreshold: false,
  })
})

for (const [count, pause] of [
  [1, 5_000],
  [2, 30_000],
  [3, 2 * MINUTE],
  [4, 10 * MINUTE],
  [5, HOUR],
  [6, 6 * HOUR],
  [60, 6 * HOUR],
] as const) {
  test(`is retried after ${pause / 1000} s at failure ${count} in a row, counted from the first`, () => {
    const { failures, nextAttemptAt } = decideRetry({ count: count - 1, since: 7 }, 100)
    assert.equal(failures, { count, since: 7 })
    assert.is(nextAttemptAt, 100 + pause)
  })
}

test('marks its webhook as failing after exactly three days', () => {
  assert.is(decideRetry({ count: 20, since: 7 }, 7 + 3 * DAYS - 1).isPastFailingThreshold, false)
  assert.is(decideRetry({ count: 20, since: 7 }, 7 + 3 * DAYS).isPastFailingThreshold, true)
})

test.run()
