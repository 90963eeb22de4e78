import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FailureDetector } from '../../src/runtime/failure-detector.ts'

const test = suite('a holder observed by a failure detector')
const TIMES = { suspectedAfterMs: 2_000, deadAfterMs: 5_000, maxObservationGapMs: 1_000 }

/** Observes the holder every 500 ms. */
function watcher() {
  let time = 1_000_000
  const signs = new FailureDetector(TIMES, () => time)
  return {
    signs,
    pass: (ms: number) => void (time += ms),
    /** @returns the verdict after `ms` milliseconds without a new sign */
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

test('is doubted first, and has ended only if it stays silent after the store confirmed a write', () => {
  const { signs, silent } = watcher()
  assert.is(silent(1_500), 'alive')
  assert.is(silent(500), 'doubted')
  assert.is(silent(60_000), 'doubted')
  signs.confirmStoreWritable('it')
  assert.is(silent(2_500), 'alive')
  assert.is(silent(500), 'ended')
})

test('is alive again after each new sign', () => {
  const { signs, silent } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  silent(2_500)
  assert.is(signs.observe('it', 'b'), 'alive')
  assert.is(silent(1_500, 'b'), 'alive')
})

test('has not ended for an observer that was suspended itself', () => {
  const { signs, silent, pass } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  pass(3_600_000)
  assert.is(signs.observe('it', 'a'), 'alive')
})

test('has its full time again after an outage', () => {
  const { signs, silent } = watcher()
  silent(2_000)
  signs.confirmStoreWritable('it')
  silent(2_500)
  signs.reset()
  assert.is(silent(1_500), 'alive')
})

test.run()
