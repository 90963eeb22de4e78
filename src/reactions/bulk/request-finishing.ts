import { finishBulk } from '../../commands/bulk/carry-out.ts'
import type { Writing } from '../../commands/core/handle.ts'
import type { RequestAccepted } from '../../domain/bulk/bulk.ts'
import type { Log } from '../../runtime/log.ts'
import { WrongRevision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode, isUndecodable } from '../../events/decode.ts'
import { isKnownType } from '../../events/registry.ts'
import { unstopped } from '../../projections/engine/keep-trying.ts'
import type { Reaction, SetAside } from '../../projections/engine/reaction.ts'

export type RequestFinishingOptions = {
  readonly writing: Writing
  readonly log: Log
  /** Milliseconds that the process which accepted a request has for it; 30 s unless told. */
  readonly patience?: number
}

/** Its checkpoint's name. */
export const REQUEST_FINISHING = 'request-finishing'

/**
 * Finishes requests that were accepted and are not done after a while, because the process that accepted them died.
 * It follows the log at that distance: what it has passed is done, so its checkpoint is one, and a restart loses none.
 */
export function requestFinishing({ writing, log, patience = 30_000 }: RequestFinishingOptions): Reaction {
  return {
    name: REQUEST_FINISHING,
    prefixes: ['request-'],
    async react(events, signal = unstopped()) {
      const aside: SetAside[] = []
      for (const event of events) {
        try {
          if (!isAccepted(event)) continue
          await waitUntil(event, patience, writing.clock, signal)
          const position = await finishBulk(writing, event.stream)
          if (position !== undefined)
            log.warn({ stream: event.stream }, 'a request that was begun elsewhere was finished')
        } catch (error) {
          if (!isOwnFault(error)) throw error
          aside.push({ event, error })
        }
      }
      return aside
    },
  }
}

/**
 * What a request is itself to blame for: events that can't be understood, or stored (TypeError: event-store.ts), or that
 * stand in the way of what it wants to create. Others don't wait for it.
 */
const isOwnFault = (error: unknown) =>
  isUndecodable(error) || error instanceof TypeError || error instanceof WrongRevision

/** By its last part. */
function isAccepted(event: StoredEvent): boolean {
  if (isKnownType(event.type) && event.type !== 'RequestAccepted') return false
  const { part, parts } = decode<RequestAccepted>(event).data
  return part === parts
}

/** However wrong the clock that wrote the event was, it takes no longer than the patience. */
async function waitUntil(
  event: StoredEvent,
  patience: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<void> {
  const accepted = Date.parse(event.metadata['at'] ?? '') || 0
  const left = Math.min(accepted + patience - clock(), patience)
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
