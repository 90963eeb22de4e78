import type { RetryRequested } from '../../domain/installation/installation.ts'
import { decode } from '../../events/decode.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { DeadLetter } from '../../stores/ports/read-store.ts'

/** Characters; longer reasons are cut. */
const REASON_MAX = 500

export const toDeadLetter = (event: StoredEvent, error: unknown): DeadLetter => ({
  stream: event.stream,
  revision: event.revision,
  position: event.position,
  event: event.id,
  type: event.type,
  reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, REASON_MAX) : 'unknown',
})

/**
 * The streams that an operator wants retried, limited to these prefixes. An unreadable request is logged and ignored.
 */
export function streamsToRetry(request: StoredEvent, prefixes: readonly string[], log: AppLogger): string[] {
  try {
    const { streams } = decode<RetryRequested>(request).data
    return streams.filter((stream) => prefixes.some((prefix) => stream.startsWith(prefix)))
  } catch (error) {
    log.warn({ err: error, event: request.id }, 'a request to retry dead letters cannot be read: ignored')
    return []
  }
}
