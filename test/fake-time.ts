import { syncBuiltinESMExports } from 'node:module'
import { install, type Clock } from '@sinonjs/fake-timers'

/** Fake timers and clocks of this process. They advance only when the test advances them. */
export type FakeTime = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Advances the time. Each due timer fires, and promises that wait for it settle before the next timer fires. */
  advance(milliseconds: number): Promise<void>
  /** Advances the time synchronously: promises that wait for a timer settle later. */
  jump(milliseconds: number): void
  /** Simulates a suspended process: an interval that was due several times fires once. */
  suspend(milliseconds: number): void
}

/** The faked functions. setImmediate and nextTick stay real, so sockets and files still work. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const

/**
 * Runs with fake clocks, so that a test of a time limit doesn't wait for it. I/O still takes real time; `until`
 * (test/until.ts) waits in real time here, too.
 */
export async function withFakeTime(
  run: (time: FakeTime) => Promise<void>,
  start = Date.UTC(2026, 0, 1),
): Promise<void> {
  const clock: Clock = install({ now: start, toFake: [...FAKED] })
  syncBuiltinESMExports()
  try {
    await run({
      now: () => clock.now,
      advance: async (milliseconds) => {
        await clock.tickAsync(milliseconds)
      },
      jump: (milliseconds) => void clock.tick(milliseconds),
      suspend: (milliseconds) => void clock.jump(milliseconds),
    })
  } finally {
    clock.uninstall()
    syncBuiltinESMExports()
  }
}
