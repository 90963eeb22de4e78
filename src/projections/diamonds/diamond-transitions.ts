import { eventTimeOf } from '../../events/event-metadata.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { applyEvent, type DiamondView } from './diamond-view.ts'

/** An event of a diamond's two streams, and what it made of the diamond. */
export type DiamondTransition = {
  readonly event: StoredEvent
  /** undefined where there was no diamond. */
  readonly before: DiamondView | undefined
  readonly after: DiamondView | undefined
  /** Why the event could not be understood; it left the diamond as it was. */
  readonly fault: unknown
}

/** Both streams of a diamond in the order of the log. @throws StoreUnavailable */
export async function readDiamondEvents(store: Pick<EventStore, 'read'>, id: number): Promise<StoredEvent[]> {
  const streams = await Promise.all([store.read(diamondStream(id)), store.read(scoresStream(id))])
  return streams.flat().sort((a, b) => comparePositions(a.position, b.position))
}

/** Folds a diamond event by event. One that can't be understood is left out, and those behind it count. */
export function* foldTransitions(id: number, events: readonly StoredEvent[]): Generator<DiamondTransition> {
  let view: DiamondView | undefined
  for (const event of events) {
    const before = view
    let fault: unknown
    try {
      view = applyEvent(view, event)
    } catch (error) {
      fault = error
      if (view !== undefined && event.stream === diamondStream(id)) view = { ...view, revision: Number(event.revision) }
    }
    yield { event, before, after: view, fault }
  }
}

/**
 * The events that had happened at some time. Times only grow within a stream; an event that lies before what the log has
 * ahead of it (clocks of two machines differ) counts as of that one's time.
 * @param until milliseconds since 1970, included
 */
export function eventsUntil(events: readonly StoredEvent[], until: number): readonly StoredEvent[] {
  const later = events.findIndex((event) => eventTimeOf(event) > until)
  return later < 0 ? events : events.slice(0, later)
}
