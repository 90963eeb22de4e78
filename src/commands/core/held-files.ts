import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { Kept } from '../../stores/ports/files.ts'

/** Milliseconds that a file is still held after an append of which nobody knows whether it arrives. */
const LATE_APPEND = 60_000

/** Runs an action that writes an event which names a file; the file is held until it is known whether it is there. */
export async function whileHeld<Result>(kept: Kept | undefined, action: () => Promise<Result>): Promise<Result> {
  let late = false
  try {
    return await action()
  } catch (error) {
    late = error instanceof OutcomeUnknown
    throw error
  } finally {
    if (late && kept !== undefined) setTimeout(() => kept.release(), LATE_APPEND).unref()
    else kept?.release()
  }
}

/** A process that stood still for long enough has lost its hold: what it has put on record must be there all the same. */
export async function ensured(kept: Kept | undefined, takeBack: () => Promise<unknown>): Promise<void> {
  try {
    await kept?.ensure()
  } catch (error) {
    await takeBack()
    throw error
  }
}
