import { latestEventFold } from '../../domain/fold.ts'
import { retriesStream, type RetryRequested } from '../../domain/installation/installation.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import type { Origin } from '../../events/event-metadata.ts'

/** Streams per event. The runner reads them completely and handles nothing else in the meantime. */
export const MAX_STREAMS_PER_RETRY = 100

/**
 * Requests that the process which runs a read model's projection retries parked streams.
 * @param streams at most MAX_STREAMS_PER_RETRY
 * @returns the position that the projection reaches when it has retried them
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function retryStreams(
  context: CommandContext,
  { model, streams }: RetryRequested['data'],
  origin: Origin,
): Promise<Position> {
  const target = { stream: retriesStream(model), origin }
  const request: RetryRequested = { type: 'RetryRequested', data: { model, streams } }
  const { position } = await handle(context, target, latestEventFold<RetryRequested>('RetryRequested'), () => [request])
  if (position === undefined) throw new Error('RetryRequested was not appended')
  return position
}
