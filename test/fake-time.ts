import { syncBuiltinESMExports } from 'node:module'
import { install, type Clock } from '@sinonjs/fake-timers'

/** Timers and clocks of this process, which go on only as a test lets them. */
export type FakeTime = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Lets so many milliseconds pass: each timer that is due fires, and what waits for it has its turn before the next. */
  pass(milliseconds: number): Promise<void>
  /** Likewise within this turn of the event loop: what waits for a timer has its turn later. */
  jump(milliseconds: number): void
  /** As when the process stands still for so long: a timer that was due many times meanwhile fires once. */
  standStill(milliseconds: number): void
}

/** What stands still. Turns of the event loop go on, by which sockets and files answer. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const

/**
 * Runs with clocks that stand still: what a rule says of seconds is held without waiting for them. Work that needs a disk
 * or a socket ends in its own time; `until` (test/until.ts) waits for it in real time here, too.
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
      pass: async (milliseconds) => {
        await clock.tickAsync(milliseconds)
      },
      jump: (milliseconds) => void clock.tick(milliseconds),
      standStill: (milliseconds) => void clock.jump(milliseconds),
    })
  } finally {
    clock.uninstall()
    syncBuiltinESMExports()
  }
}
