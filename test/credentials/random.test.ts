import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { drawRandom } from '../../src/credentials/random.ts'

const test = suite('random bytes')

test('are as many as were asked for', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 4096 }), (length) => drawRandom(length).length === length))
})

test('are never handed out twice, over many fillings of the pool', () => {
  const drawn = Array.from({ length: 5_000 }, () => drawRandom(16).toString('hex'))
  assert.is(new Set(drawn).size, drawn.length)
})

test('take every value about as often as another', () => {
  const counts = Array.from({ length: 256 }, () => 0)
  for (const byte of Buffer.concat(Array.from({ length: 1_000 }, () => drawRandom(256))))
    counts[byte] = (counts[byte] ?? 0) + 1
  // 1,000 each, with a standard deviation of 32: ten of them are never seen.
  for (const [byte, count] of counts.entries()) assert.ok(Math.abs(count - 1_000) < 320, `${byte}: ${count} times`)
})

test('are their owner’s alone: changing them changes none that are drawn later', () => {
  const first = drawRandom(12)
  const kept = Buffer.from(first)
  drawRandom(12).fill(0)
  assert.equal(first, kept)
})

test('are refused beyond what the pool holds', () => {
  assert.throws(() => drawRandom(4097), /4097 random bytes.*at most 4096/)
})

test.run()
