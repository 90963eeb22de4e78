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
  return { time, pass, ...steadyClock({ wall: () => time.wall, monotonic: () => time.passed, onJump: jumped }) }
}

const test = suite('the steady clock')

for (const [which, jump] of [
  ['ahead', DAYS_30],
  ['behind', -DAYS_30],
] as const) {
  test(`ignores a system clock that is 30 days ${which} for a minute`, () => {
    const { time, pass, now } = system()
    const started = now()
    time.wall += jump
    for (let second = 1; second <= 60; second++) {
      pass(1_000)
      assert.is(now(), started + second * 1_000)
    }
    time.wall -= jump
    assert.is(now(), started + MINUTE)
    assert.equal(time.jumps, [jump], 'reported once')
  })
}

test('adopts a changed system clock after five minutes', () => {
  const { time, pass, now } = system()
  time.wall += DAYS_30
  now()
  pass(5 * MINUTE - 1)
  assert.ok(now() < time.wall)
  pass(1)
  assert.is(now(), time.wall)
  pass(MINUTE)
  assert.is(now(), time.wall)
})

test('adopts changes of a few seconds at once', () => {
  const { time, pass, now } = system()
  for (let count = 0; count < 100; count++) {
    time.wall += count % 2 === 0 ? 9_000 : -9_000
    pass(10)
    assert.is(now(), time.wall)
  }
  assert.equal(time.jumps, [])
})

/** Passes five minutes in which the clock is read every second, as jobs do. @returns whether it is settled before the end and at it */
function settlesIn5Minutes({ pass, isSettled }: ReturnType<typeof system>): boolean[] {
  for (let second = 1; second < 5 * 60; second++) {
    pass(1_000)
    isSettled()
  }
  const before = isSettled()
  pass(1_000)
  return [before, isSettled()]
}

test('is settled if it is at most five minutes ahead of a time that is known to have passed', () => {
  for (const [ahead, settled] of [
    [5 * MINUTE, true],
    [-DAYS_30, true],
    [5 * MINUTE + 1, false],
  ] as const) {
    const { now, compareWith, isSettled } = system()
    assert.is(compareWith(now() - ahead), ahead)
    assert.is(isSettled(), settled, `${ahead}`)
  }
})

test('is settled five minutes after the start if nothing confirms it', () => {
  assert.equal(settlesIn5Minutes(system()), [false, true])
})

test('that was wrong at the start is settled five minutes after it was corrected', () => {
  const started = system()
  started.pass(MINUTE)
  started.time.wall -= DAYS_30
  started.isSettled()
  assert.equal(settlesIn5Minutes(started), [false, true])
  assert.is(started.now(), started.time.wall)
})

test('that jumps away for a minute is settled five minutes after it came back', () => {
  const started = system()
  started.time.wall += DAYS_30
  started.isSettled()
  started.pass(MINUTE)
  started.time.wall -= DAYS_30
  started.isSettled()
  assert.equal(settlesIn5Minutes(started), [false, true])
})

test('stays settled while it ignores a jump', () => {
  const { time, now, compareWith, isSettled } = system()
  compareWith(now())
  time.wall += DAYS_30
  assert.ok(isSettled())
})

test.run()
