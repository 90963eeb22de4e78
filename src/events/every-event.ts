import {
  DamagedEvent,
  passesFilter,
  type EventStore,
  type Filter,
  type From,
  type StoredEvent,
} from '../stores/ports/event-store.ts'

/**
 * Every event behind a position, in the order of the log. One whose text is damaged is told, and passed over: what comes behind it is to
 * be looked at too. A store gives nothing of a page with such an event, so what stands before it there is read one by one: only the
 * embedded log has such events, whose positions are consecutive numbers.
 */
export async function* everyEvent(
  store: Pick<EventStore, 'readAll' | 'eventAt'>,
  from: From,
  damaged: (error: DamagedEvent) => void,
  filter?: Filter,
): AsyncGenerator<StoredEvent, void> {
  let behind = from
  for (;;) {
    let found: DamagedEvent | undefined
    try {
      for await (const event of store.readAll(behind, filter)) {
        yield event
        behind = event.position
      }
      return
    } catch (error) {
      if (!(error instanceof DamagedEvent)) throw error
      found = error
    }
    for await (const event of between(store, behind, found)) if (passesFilter(event, filter)) yield event
    damaged(found)
    behind = found.event.position
  }
}

async function* between(store: Pick<EventStore, 'eventAt'>, from: From, { event }: DamagedEvent) {
  const first = from === 'start' ? 0n : from.commit + 1n
  for (let commit = first; commit < event.position.commit; commit++) {
    const found = await store.eventAt({ commit, prepare: commit })
    if (found !== undefined) yield found
  }
}
