import { latestEventDecider } from '../../domain/decider.ts'
import { retriesStream, type RetryRequested } from '../../domain/installation/installation.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { handle, type CommandContext } from '../core/handle.ts'
import type { Origin } from '../../events/event-metadata.ts'

/** Streams of one event: its runner reads them whole, and nothing else meanwhile. */
export const MAX_STREAMS_PER_RETRY = 100

/**
 * Asks a read model's active runner, wherever it runs, to fold streams again that it has set aside.
 * @param streams at most RETRIED_AT_ONCE
 * @returns the position at which the model has done so
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function retryStreams(
  context: CommandContext,
  { model, streams }: RetryRequested['data'],
  origin: Origin,
): Promise<Position> {
  const target = { stream: retriesStream(model), origin }
  const asked: RetryRequested = { type: 'RetryRequested', data: { model, streams } }
  const { position } = await handle(context, target, latestEventDecider<RetryRequested>('RetryRequested'), () => [
    asked,
  ])
  if (position === undefined) throw new Error('what is asked for is always written')
  return position
}
