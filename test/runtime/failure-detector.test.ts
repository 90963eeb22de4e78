import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FailureDetector } from '../../src/runtime/failure-detector.ts'

const test = suite('a holder observed by a failure detector')
const TIMES = { suspectedAfterMs: 2_000, deadAfterMs: 5_000, maxObservationGapMs: 1_000 }

/** Observes the holder every 500 ms. */
function createObserver() {
  let time = 1_000_000
  const detector = new FailureDetector(TIMES, () => time)
  return {
    detector,
    pass: (ms: number) => void (time += ms),
    /** @returns the verdict after `ms` milliseconds without a new sign */
    silentFor(ms: number, sign = 'a') {
      let state = detector.observe('it', sign)
      for (let passed = 0; passed < ms; passed += 500) {
        time += 500
        state = detector.observe('it', sign)
      }
      return state
    },
  }
}

test('is doubted first, and has ended only if it stays silent after the store confirmed a write', () => {
  const { detector, silentFor } = createObserver()
  assert.is(silentFor(1_500), 'alive')
  assert.is(silentFor(500), 'doubted')
  assert.is(silentFor(60_000), 'doubted')
  detector.confirmStoreWritable('it')
  assert.is(silentFor(2_500), 'alive')
  assert.is(silentFor(500), 'ended')
})

test('is alive again after each new sign', () => {
  const { detector, silentFor } = createObserver()
  silentFor(2_000)
  detector.confirmStoreWritable('it')
  silentFor(2_500)
  assert.is(detector.observe('it', 'b'), 'alive')
  assert.is(silentFor(1_500, 'b'), 'alive')
})

test('has not ended for an observer that was suspended itself', () => {
  const { detector, silentFor, pass } = createObserver()
  silentFor(2_000)
  detector.confirmStoreWritable('it')
  pass(3_600_000)
  assert.is(detector.observe('it', 'a'), 'alive')
})

test('has its full time again after an outage', () => {
  const { detector, silentFor } = createObserver()
  silentFor(2_000)
  detector.confirmStoreWritable('it')
  silentFor(2_500)
  detector.reset()
  assert.is(silentFor(1_500), 'alive')
})

test.run()
