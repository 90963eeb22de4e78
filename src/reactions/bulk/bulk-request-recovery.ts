import { eventTimeOf } from '../../events/event-metadata.ts'
import { finishBulk } from '../../commands/bulk/handle-bulk.ts'
import type { CommandContext } from '../../commands/core/handle.ts'
import type { RequestAccepted } from '../../domain/bulk/bulk.ts'
import { LOG_STREAM } from '../../domain/installation/log-lifecycle.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { defineReaction, type PoisonEvent } from '../../projections/engine/reaction.ts'

export type BulkRequestRecoveryOptions = {
  readonly writing: CommandContext
  readonly log: AppLogger
}

/** Milliseconds that the process which accepted a request has to finish it. */
const GRACE_PERIOD_MS = 30_000

/**
 * Finishes requests that were accepted and are not done after a while, because the process that accepted them died.
 * It follows the log at that distance: what it has passed is done, so its checkpoint is one, and a restart loses none.
 */
export const bulkRequestRecovery = defineReaction<BulkRequestRecoveryOptions>({
  name: 'request-finishing',
  streamPrefixes: ['request-'],
  eventTypes: ['RequestAccepted'],
  isNeeded: ({ writing: { store } }) => mayHaveIncompleteRequests(store),
  createHandler:
    ({ writing, log }) =>
    async (events, signal = neverAborted()) => {
      const aside: PoisonEvent[] = []
      for (const event of events) {
        try {
          if (!isComplete(event)) continue
          await waitForGracePeriod(event, writing.clock, signal)
          const position = await finishBulk(writing, event.stream)
          if (position !== undefined)
            log.warn({ stream: event.stream }, 'a request that was begun elsewhere was finished')
        } catch (error) {
          if (!isPermanentFailure(error)) throw error
          aside.push({ event, error })
        }
      }
      return aside
    },
})

/**
 * What a request is itself to blame for: events that can't be understood, or stored (TypeError: event-store.ts), or that
 * stand in the way of what it wants to create. Others don't wait for it.
 */
const isPermanentFailure = (error: unknown) =>
  isDecodeError(error) || error instanceof TypeError || error instanceof WrongRevision

/** Where all is written at once, nothing is ever begun and not ended; but a log that was copied may have been another. */
async function mayHaveIncompleteRequests(store: EventStore): Promise<boolean> {
  return (
    !store.isAppendManyAtomic || (await store.read(LOG_STREAM, { last: 1 })).some(({ type }) => type === 'LogOpened')
  )
}

/** By its last part. */
function isComplete(event: StoredEvent): boolean {
  const { part, parts } = decode<RequestAccepted>(event).data
  return part === parts
}

/** However wrong the clock that wrote the event was, it takes no longer than the grace period. */
async function waitForGracePeriod(event: StoredEvent, clock: () => number, signal: AbortSignal): Promise<void> {
  const accepted = eventTimeOf(event)
  const left = Math.min(accepted + GRACE_PERIOD_MS - clock(), GRACE_PERIOD_MS)
  signal.throwIfAborted()
  if (left <= 0) return
  await new Promise<void>((done, fail) => {
    const stop = () => {
      clearTimeout(timer)
      fail(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      done()
    }, left)
    signal.addEventListener('abort', stop, { once: true })
  })
}
