import type { RetryRequested } from '../../domain/installation/installation.ts'
import { decode } from '../../events/decode.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { DeadLetter } from '../../stores/ports/read-store.ts'

/** Characters of a reason that are kept. */
const REASON_MAX = 500

/** What is kept of an event that was set aside. */
export const toDeadLetter = (event: StoredEvent, error: unknown): DeadLetter => ({
  stream: event.stream,
  revision: event.revision,
  position: event.position,
  event: event.id,
  type: event.type,
  reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, REASON_MAX) : 'unknown',
})

/**
 * The streams that an operator wants to be tried again, as far as they are of these prefixes. A request that can't be
 * read is no reason to stop.
 */
export function streamsToRetry(request: StoredEvent, prefixes: readonly string[], log: AppLogger): string[] {
  try {
    const { streams } = decode<RetryRequested>(request).data
    return streams.filter((stream) => prefixes.some((prefix) => stream.startsWith(prefix)))
  } catch (error) {
    log.warn({ err: error, event: request.id }, 'a request to try dead letters again can not be read')
    return []
  }
}
