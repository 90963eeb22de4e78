import {
  CorruptEvent,
  passesFilter,
  type EventStore,
  type StreamFilter,
  type PositionOrStart,
  type StoredEvent,
} from '../stores/ports/event-store.ts'

/**
 * Every event behind a position, in the order of the log. One whose text is damaged is told, and passed over: what comes behind it is to
 * be looked at too. A store gives nothing of a page with such an event, so what stands before it there is read one by one: only the
 * embedded log has such events, whose positions are consecutive numbers.
 */
export async function* readEveryEvent(
  store: Pick<EventStore, 'readAll' | 'eventAt'>,
  from: PositionOrStart,
  onDamaged: (error: CorruptEvent) => void,
  filter?: StreamFilter,
): AsyncGenerator<StoredEvent, void> {
  let behind = from
  for (;;) {
    let found: CorruptEvent | undefined
    try {
      for await (const event of store.readAll(behind, filter)) {
        yield event
        behind = event.position
      }
      return
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error
      found = error
    }
    for await (const event of readEventsBefore(store, behind, found)) if (passesFilter(event, filter)) yield event
    onDamaged(found)
    behind = found.event.position
  }
}

async function* readEventsBefore(store: Pick<EventStore, 'eventAt'>, from: PositionOrStart, { event }: CorruptEvent) {
  const first = from === 'start' ? 0n : from.commit + 1n
  for (let commit = first; commit < event.position.commit; commit++) {
    const found = await store.eventAt({ commit, prepare: commit })
    if (found !== undefined) yield found
  }
}
