import { performance } from 'node:perf_hooks'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inSlices, mapInSlices } from '../../src/runtime/event-loop.ts'
import { countTurns } from '../count-turns.ts'
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
    const turns = await countTurns(() => mapInSlices(Array.from({ length: 30 }), () => void (now += 3)))
    assert.ok(turns >= 9, `${turns} turns in 90 ms of work`)
  }))

test('on a source that never waits yields to the event loop every 8 ms, and has the same items or error', () =>
  withFakeTime(async () => {
    let now = 0
    performance.now = () => now
    async function* source() {
      for (let item = 0; item < 30; item++) {
        now += 3
        yield item
      }
      throw new Error('at the end')
    }
    const items: number[] = []
    let message = ''
    const turns = await countTurns(async () => {
      try {
        for await (const item of inSlices(source())) items.push(item)
      } catch (error) {
        message = (error as Error).message
      }
    })
    assert.equal([items, message], [Array.from({ length: 30 }, (_, item) => item), 'at the end'])
    assert.ok(turns >= 9, `${turns} turns in 90 ms of work`)
  }))

test('of several callers runs one slice per turn of the event loop', () =>
  withFakeTime(async () => {
    let now = 0
    performance.now = () => now
    const turns: number[] = []
    await countTurns((turnsSoFar) => {
      const work = async () => {
        // The first slice starts at once; the second waits for its turn.
        await mapInSlices([1, 2], (item) => {
          now += 10
          if (item === 2) turns.push(turnsSoFar())
        })
      }
      return Promise.all(Array.from({ length: 5 }, work))
    })
    assert.is(new Set(turns).size, 5)
  }))

test.run()
