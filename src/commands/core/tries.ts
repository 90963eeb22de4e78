import { OutcomeUnknown, WrongRevision } from '../../stores/ports/event-store.ts'

/**
 * Milliseconds after which an unknown outcome is told. A store that takes appends and says nothing of them, as a cluster
 * without a majority does, uses seconds for each: whoever asked must not wait for all tries there are.
 */
const PATIENCE = 1_000

/**
 * Counts the tries of one command, which begins now.
 * @param most tries there are
 * @returns a function that takes what a try failed with, and says whether another one is worth it: after a lost race
 *   against another process, and after an unknown outcome unless it took long to be one
 */
export function tries(most: number, now: () => number = () => performance.now()): (error: unknown) => boolean {
  const started = now()
  let made = 0
  return (error) => {
    made++
    if (made >= most) return false
    if (error instanceof OutcomeUnknown) return now() - started < PATIENCE
    return error instanceof WrongRevision
  }
}

/** Waits before the next try: longer with every attempt, and never as long as another process does. */
export const pause = (attempt: number) =>
  new Promise<void>((done) => setTimeout(done, attempt * 10 * (1 + Math.random())))
