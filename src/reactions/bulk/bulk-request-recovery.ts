import { setTimeout as pause } from 'node:timers/promises'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { finishBulk } from '../../commands/bulk/accepted-bulk.ts'
import type { CommandContext } from '../../commands/core/command-context.ts'
import type { RequestAccepted } from '../../domain/bulk/bulk.ts'
import { LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { defineReaction, type PoisonEvent } from '../../projections/engine/reaction.ts'

export type BulkRequestRecoveryOptions = {
  readonly context: CommandContext
  readonly log: AppLogger
}

/** Milliseconds that the process which accepted a request has to complete it. */
const GRACE_PERIOD_MS = 30_000

/**
 * Completes bulk requests whose process died after accepting them. It handles each request after the grace period, so
 * that everything before its checkpoint is complete and a restart misses none.
 */
export const bulkRequestRecovery = defineReaction<BulkRequestRecoveryOptions>({
  name: 'request-finishing',
  streamPrefixes: ['request-'],
  eventTypes: ['RequestAccepted'],
  isNeeded: ({ context: { store } }) => mayHaveIncompleteRequests(store),
  createHandler:
    ({ context, log }) =>
    async (events, signal = neverAborted()) => {
      const poisonEvents: PoisonEvent[] = []
      for (const event of events) {
        try {
          if (!isComplete(event)) continue
          await waitForGracePeriod(event, context.clock, signal)
          const position = await finishBulk(context, event.stream)
          if (position !== undefined)
            log.warn({ stream: event.stream }, 'a request accepted by another process was completed')
        } catch (error) {
          if (!isPermanentFailure(error)) throw error
          poisonEvents.push({ event, error })
        }
      }
      return poisonEvents
    },
})

/**
 * Failures of the request itself: events that can't be decoded or stored (TypeError: event-store.ts), or that conflict
 * with what it wants to create. Such a request becomes a dead letter and does not block others.
 */
const isPermanentFailure = (error: unknown) =>
  isDecodeError(error) || error instanceof TypeError || error instanceof WrongRevision

/** With atomic appends no request stays incomplete, but a copied log may come from a store without them. */
async function mayHaveIncompleteRequests(store: EventStore): Promise<boolean> {
  return (
    !store.isAppendManyAtomic ||
    (await store.readStream(LOG_STREAM, { last: 1 })).some(({ type }) => type === 'LogOpened')
  )
}

/** True for the last part of a request. */
function isComplete(event: StoredEvent): boolean {
  const { part, parts } = decode<RequestAccepted>(event).data
  return part === parts
}

/** Never longer than the grace period, even if the clock that wrote the event was wrong. */
async function waitForGracePeriod(event: StoredEvent, clock: () => number, signal: AbortSignal): Promise<void> {
  const acceptedAt = eventTimeOf(event)
  const remainingMs = Math.min(acceptedAt + GRACE_PERIOD_MS - clock(), GRACE_PERIOD_MS)
  signal.throwIfAborted()
  if (remainingMs > 0) await pause(remainingMs, undefined, { signal }).catch(() => signal.throwIfAborted())
}
