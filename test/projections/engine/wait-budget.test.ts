import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WaitBudget, READ_MODEL_WAIT_MS } from '../../../src/projections/engine/progress.ts'
import { withFakeTime } from '../../fake-time.ts'
import { pace } from '../../pace.ts'

const test = suite("a request's wait budget for read models")

test('is 1.5 s in total, whatever the number of waits', () =>
  withFakeTime(async (time) => {
    assert.is(READ_MODEL_WAIT_MS, 1_500)
    const budget = new WaitBudget()
    const waits: number[] = []
    const wait = async (ms: number) => {
      const waiting = budget.spendOn((left) => {
        waits.push(left)
        return pace(ms)
      })
      await time.advance(ms)
      await waiting
    }
    for (let nth = 0; nth < 3; nth++) await wait(1_000)
    assert.equal(waits, [1_500, 500, 0])
    assert.is(budget.remainingMs, 0)
  }))

test.run()
