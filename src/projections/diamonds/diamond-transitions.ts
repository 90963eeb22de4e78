import { eventTimeOf } from '../../events/event-metadata.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { applyEvent, type DiamondView } from './diamond-view.ts'

/** An event of a diamond's two streams, with the diamond before and after it. */
export type DiamondTransition = {
  readonly event: StoredEvent
  /** undefined if there was no diamond. */
  readonly before: DiamondView | undefined
  readonly after: DiamondView | undefined
  /** The error if the event could not be decoded or applied; the diamond is then unchanged. */
  readonly fault: unknown
}

/** The events of both streams of a diamond, in log order. @throws StoreUnavailable */
export async function readDiamondEvents(store: Pick<EventStore, 'readStream'>, id: number): Promise<StoredEvent[]> {
  const streams = await Promise.all([store.readStream(diamondStream(id)), store.readStream(scoresStream(id))])
  return streams.flat().sort((a, b) => comparePositions(a.position, b.position))
}

/** Folds a diamond event by event. An event that fails is skipped; later ones are applied. */
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
 * The events up to a time. Times never decrease within a stream. Across streams they may (clocks of two machines
 * differ): an event counts as at least as late as all events before it in the log.
 * @param until milliseconds since 1970, inclusive
 */
export function eventsUntil(events: readonly StoredEvent[], until: number): readonly StoredEvent[] {
  const firstLaterIndex = events.findIndex((event) => eventTimeOf(event) > until)
  return firstLaterIndex < 0 ? events : events.slice(0, firstLaterIndex)
}
