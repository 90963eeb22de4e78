import { performance } from 'node:perf_hooks'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mapInSlices, turnOfLongWork } from '../../src/runtime/slices.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('work that takes long')

test('gives the same as if it were done at once, faults included', async () => {
  assert.equal(await mapInSlices([3, 1, 2], (item, index) => item * 10 + index), [30, 11, 22])
  const failing = mapInSlices([1], () => assert.unreachable('as thrown'))
  assert.match(String(await failing.catch((error: Error) => error.message)), /as thrown/)
})

test('lets others have their turns in between, every 8 ms', () =>
  withFakeTime(async () => {
    let now = 0
    performance.now = () => now
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    await mapInSlices(Array.from({ length: 30 }), () => void (now += 3))
    done = true
    assert.ok(turns >= 9, `${turns} turns in 90 ms of work`)
  }))

test('of many is done by one in a turn of the event loop', async () => {
  let turn = 0
  let done = false
  const count = () => {
    turn++
    if (!done) setImmediate(count)
  }
  setImmediate(count)
  const had = await Promise.all(
    Array.from({ length: 5 }, async () => {
      await turnOfLongWork()
      return turn
    }),
  )
  done = true
  assert.is(new Set(had).size, 5)
})

test.run()
