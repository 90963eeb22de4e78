import { evolve, unknown, type Diamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { WrongRevision, type Append, type Position, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { appendAll, latest } from '../core/append-all.ts'
import { pause } from '../core/tries.ts'
import type { Writing } from '../core/handle.ts'

/** Only other commands on the same stream come between, and each of them is done after a while. */
const ATTEMPTS = 20

/**
 * Makes changes that were accepted, each once. A diamond that was changed by somebody else meanwhile is changed on top
 * of that; one that was deleted meanwhile stays so, as if the change had come before.
 * @throws OutcomeUnknown, StoreUnavailable
 */
export async function applyChanges(writing: Writing, appends: readonly Append[]): Promise<Position | undefined> {
  try {
    return await appendAll(writing.store, appends)
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
  }
  return latest(await Promise.all(appends.map((append) => applyOne(writing, append))))
}

async function applyOne(writing: Writing, append: Append): Promise<Position | undefined> {
  for (let attempt = 1; ; attempt++) {
    const stored = await writing.store.read(append.stream)
    const own = ownOf(stored, append)
    if (own !== undefined) return own.position
    if (append.expected !== 'none' && diamondOf(stored).status !== 'live') return undefined
    const last = stored.at(-1)
    try {
      return await writing.store.append(append.stream, last?.revision ?? 'none', notBefore(last, append.events))
    } catch (error) {
      if (!(error instanceof WrongRevision) || append.expected === 'none' || attempt === ATTEMPTS) throw error
      await pause(Math.min(attempt, 5))
    }
  }
}

/** The last event of the change, where it is in the stream. */
function ownOf(stored: readonly StoredEvent[], { events }: Append): StoredEvent | undefined {
  const last = events.at(-1)
  return stored.find(({ id }) => id === last?.id)
}

const diamondOf = (stored: readonly StoredEvent[]): Diamond =>
  stored.reduce((diamond, event) => evolve(diamond, decode<DiamondEvent>(event)), unknown)

/** Time does not go back within a stream: both are UTC, to the millisecond, and so compare as texts. */
function notBefore(last: StoredEvent | undefined, events: Append['events']): Append['events'] {
  const least = last?.metadata['at'] ?? ''
  return events.map((event) => {
    const at = event.metadata['at'] ?? ''
    return at >= least ? event : { ...event, metadata: { ...event.metadata, at: least } }
  })
}
