import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'

/** Milliseconds without a request after which there is nobody to let go first: who sends one after the other needs one. */
const REST = 4

/** Milliseconds of one look at how busy the event loop is, and the longest that who gives way waits. */
const LOOK = 2
const LONGEST = 1_000

/** Share of a look in which the event loop may be busy with others' work. */
const BUSY = 0.7

/**
 * Lets requests go first: waits while they keep the event loop busy, at most a second, so that what gives way is slow
 * under load and never stands still. Scores may come an hour after a stone; answers may not.
 * @param hasRested whether no request was under way for so many milliseconds
 * @returns false where the event loop was busy to the end
 */
export async function giveWay(hasRested: (milliseconds: number) => boolean): Promise<boolean> {
  // What arrived meanwhile is taken in first.
  await nextTurn()
  const end = performance.now() + LONGEST
  while (performance.now() < end) {
    if (hasRested(REST)) return true
    const before = performance.eventLoopUtilization()
    await pause(LOOK)
    if (performance.eventLoopUtilization(before).utilization <= BUSY) return true
  }
  return false
}
