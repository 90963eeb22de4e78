import { performance } from 'node:perf_hooks'

/** Milliseconds of one look at how busy the event loop is, and the longest that who gives way waits. */
const LOOK = 5
const LONGEST = 1_000

/** Share of a look in which the event loop may be busy with others' work. */
const BUSY = 0.7

/**
 * Lets requests go first: waits while they keep the event loop busy, at most a second, so that what gives way is slow
 * under load and never stands still. Scores may come an hour after a stone; answers may not.
 */
export async function giveWay(): Promise<void> {
  const end = performance.now() + LONGEST
  let busy = 1
  while (busy > BUSY && performance.now() < end) {
    const before = performance.eventLoopUtilization()
    await new Promise<void>((done) => setTimeout(done, LOOK))
    busy = performance.eventLoopUtilization(before).utilization
  }
}
