import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { FileStore, StoredFile } from '../../stores/ports/file-store.ts'

/** Milliseconds to keep a file held after an append with unknown outcome, which may still arrive. */
const UNKNOWN_OUTCOME_HOLD_MS = 60_000

/** Stores a file and holds it. @throws StoreUnavailable, and what reading the chunks throws */
export async function storeContent(
  files: FileStore,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<StoredFile> {
  const upload = await files.receive()
  try {
    for await (const chunk of chunks) await upload.write(chunk)
    return await upload.keep()
  } finally {
    await upload.discard()
  }
}

/** Runs an action that appends events referring to the held files, and releases them afterwards, with those that it adds. */
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
