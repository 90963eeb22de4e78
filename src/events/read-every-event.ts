import {
  CorruptEvent,
  passesFilter,
  type EventStore,
  type StreamFilter,
  type PositionOrStart,
  type StoredEvent,
} from '../stores/ports/event-store.ts'

/**
 * Reads all events after a position, in log order. A damaged event is reported and skipped. The store returns nothing
 * from a page with a damaged event, so the events before it are read one by one. Only the embedded log has such events,
 * and its positions are consecutive numbers.
 */
export async function* readEveryEvent(
  store: Pick<EventStore, 'readAll' | 'eventAt'>,
  from: PositionOrStart,
  onDamaged: (error: CorruptEvent) => void,
  filter?: StreamFilter,
): AsyncGenerator<StoredEvent, void> {
  let position = from
  for (;;) {
    let corruptEvent: CorruptEvent | undefined
    try {
      for await (const event of store.readAll(position, filter)) {
        yield event
        position = event.position
      }
      return
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error
      corruptEvent = error
    }
    for await (const event of readEventsBefore(store, position, corruptEvent))
      if (passesFilter(event, filter)) yield event
    onDamaged(corruptEvent)
    position = corruptEvent.event.position
  }
}

async function* readEventsBefore(store: Pick<EventStore, 'eventAt'>, from: PositionOrStart, { event }: CorruptEvent) {
  const first = from === 'start' ? 0n : from.commit + 1n
  for (let commit = first; commit < event.position.commit; commit++) {
    const found = await store.eventAt({ commit, prepare: commit })
    if (found !== undefined) yield found
  }
}
