import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FailureDetector } from '../../src/runtime/failure-detector.ts'

const test = suite('a holder that is watched')
const TIMES = { suspectedAfterMs: 2_000, deadAfterMs: 5_000, maxObservationGapMs: 1_000 }

/** A watcher who looks each 500 ms. */
function watcher() {
  let time = 1_000_000
  const signs = new FailureDetector(TIMES, () => time)
  return {
    signs,
    pass: (ms: number) => void (time += ms),
    /** What is thought of it after so many milliseconds in which its sign stood still. */
    silent(ms: number, sign = 'a') {
      let life = signs.observe('it', sign)
      for (let passed = 0; passed < ms; passed += 500) {
        time += 500
        life = signs.observe('it', sign)
      }
      return life
    },
  }
}

test('is doubted first, and has ended only when a write was acknowledged and the silence went on', () => {
  const { signs, silent } = watcher()
  assert.is(silent(1_500), 'alive')
  assert.is(silent(500), 'doubted')
  assert.is(silent(60_000), 'doubted')
  signs.confirmStoreWritable('it')
  assert.is(silent(2_500), 'alive')
  assert.is(silent(500), 'ended')
})

test('lives with each new sign', () => {
  const { signs, silent } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  silent(2_500)
  assert.is(signs.observe('it', 'b'), 'alive')
  assert.is(silent(1_500, 'b'), 'alive')
})

test('has ended for nobody who stood still himself', () => {
  const { signs, silent, pass } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  pass(3_600_000)
  assert.is(signs.observe('it', 'a'), 'alive')
})

test('is given its whole time again behind an outage', () => {
  const { signs, silent } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  silent(2_500)
  signs.reset()
  assert.is(silent(1_500), 'alive')
})

test.run()
