import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { StoredFile } from '../../stores/ports/file-store.ts'

/** Milliseconds to keep a file held after an append with unknown outcome, which may still arrive. */
const UNKNOWN_OUTCOME_HOLD_MS = 60_000

/** Runs an action that appends events referring to the held files, and releases the files afterwards. */
export async function withFileHold<Result>(
  heldFiles: readonly StoredFile[],
  action: () => Promise<Result>,
): Promise<Result> {
  let isOutcomeUnknown = false
  try {
    return await action()
  } catch (error) {
    isOutcomeUnknown = error instanceof OutcomeUnknown
    throw error
  } finally {
    const release = () => heldFiles.forEach((file) => file.release())
    if (isOutcomeUnknown && heldFiles.length > 0) setTimeout(release, UNKNOWN_OUTCOME_HOLD_MS).unref()
    else release()
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
