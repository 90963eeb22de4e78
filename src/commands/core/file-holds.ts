import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { StoredFile } from '../../stores/ports/file-store.ts'

/** Milliseconds to keep a file held after an append with unknown outcome, which may still arrive. */
const LATE_APPEND_MS = 60_000

/** Runs an action that appends an event referring to the held file, and releases the file afterwards. */
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

/**
 * Makes sure that the file still exists after its event was appended: a process that was suspended for long may have
 * lost its hold. Compensates and rethrows if the file can't be restored.
 */
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
