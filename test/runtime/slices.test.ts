import { performance } from 'node:perf_hooks'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inSlices, mapInSlices } from '../../src/runtime/event-loop.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('work in slices')

test('has the same result or error as without slices', async () => {
  assert.equal(await mapInSlices([3, 1, 2], (item, index) => item * 10 + index), [30, 11, 22])
  const failing = mapInSlices([1], () => assert.unreachable('as thrown'))
  assert.match(String(await failing.catch((error: Error) => error.message)), /as thrown/)
})

test('yields to the event loop every 8 ms', () =>
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

test('on a source that never waits yields to the event loop every 8 ms, and has the same items or error', () =>
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
    async function* source() {
      for (let item = 0; item < 30; item++) {
        now += 3
        yield item
      }
      throw new Error('at the end')
    }
    const items: number[] = []
    const message = await (async () => {
      for await (const item of inSlices(source())) items.push(item)
    })().catch((error: Error) => error.message)
    done = true
    assert.equal([items, message], [Array.from({ length: 30 }, (_, item) => item), 'at the end'])
    assert.ok(turns >= 9, `${turns} turns in 90 ms of work`)
  }))

test('of several callers runs one slice per turn of the event loop', () =>
  withFakeTime(async () => {
    let now = 0
    performance.now = () => now
    let turn = 0
    let done = false
    const count = () => {
      turn++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    const turns: number[] = []
    const work = async () => {
      // The first slice starts at once; the second waits for its turn.
      await mapInSlices([1, 2], (item) => {
        now += 10
        if (item === 2) turns.push(turn)
      })
    }
    await Promise.all(Array.from({ length: 5 }, work))
    done = true
    assert.is(new Set(turns).size, 5)
  }))

test.run()
