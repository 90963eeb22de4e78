import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { steadyClock } from '../../src/runtime/steady-clock.ts'

const DAYS_30 = 30 * 86_400_000
const MINUTE = 60_000

/** The wall clock and the monotonic clock of the system, and the reported jumps. */
function system() {
  const time = { wall: 1_000_000_000_000, passed: 5.5, jumps: [] as number[] }
  const pass = (milliseconds: number) => {
    time.wall += milliseconds
    time.passed += milliseconds
  }
  const jumped = (milliseconds: number) => void time.jumps.push(milliseconds)
  return { time, pass, clock: steadyClock({ wall: () => time.wall, monotonic: () => time.passed, onJump: jumped }) }
}

const test = suite('the steady clock')

for (const [which, jump] of [
  ['ahead', DAYS_30],
  ['behind', -DAYS_30],
] as const) {
  test(`ignores a system clock that is 30 days ${which} for a minute`, () => {
    const { time, pass, clock } = system()
    const started = clock()
    time.wall += jump
    for (let second = 1; second <= 60; second++) {
      pass(1_000)
      assert.is(clock(), started + second * 1_000)
    }
    time.wall -= jump
    assert.is(clock(), started + MINUTE)
    assert.equal(time.jumps, [jump], 'reported once')
  })
}

test('adopts a changed system clock after five minutes', () => {
  const { time, pass, clock } = system()
  time.wall += DAYS_30
  clock()
  pass(5 * MINUTE - 1)
  assert.ok(clock() < time.wall)
  pass(1)
  assert.is(clock(), time.wall)
  pass(MINUTE)
  assert.is(clock(), time.wall)
})

test('adopts changes of a few seconds at once', () => {
  const { time, pass, clock } = system()
  for (let count = 0; count < 100; count++) {
    time.wall += count % 2 === 0 ? 9_000 : -9_000
    pass(10)
    assert.is(clock(), time.wall)
  }
  assert.equal(time.jumps, [])
})

test.run()
