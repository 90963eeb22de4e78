import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { StoredFile } from '../../stores/ports/file-store.ts'

/** Milliseconds that a file is still held after an append of which nobody knows whether it arrives. */
const LATE_APPEND_MS = 60_000

/** Runs an action that writes an event which names a file; the file is held until it is known whether it is there. */
export async function withFileHold<Result>(
  heldFile: StoredFile | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  let late = false
  try {
    return await action()
  } catch (error) {
    late = error instanceof OutcomeUnknown
    throw error
  } finally {
    if (late && heldFile !== undefined) setTimeout(() => heldFile.release(), LATE_APPEND_MS).unref()
    else heldFile?.release()
  }
}

/** A process that stood still for long enough has lost its hold: what it has put on record must be there all the same. */
export async function ensureHeldFile(
  heldFile: StoredFile | undefined,
  compensate: () => Promise<unknown>,
): Promise<void> {
  try {
    await heldFile?.ensureStored()
  } catch (error) {
    await compensate()
    throw error
  }
}
