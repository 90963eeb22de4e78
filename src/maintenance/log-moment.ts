import { comparePositions, type From, type Position, type StoredEvent } from '../stores/ports/event-store.ts'

/** Where a log is cut: behind a place in it, or at the end of a millisecond (since 1970). */
export type Moment = { readonly position: Position } | { readonly time: number }

/**
 * The events of a log as it was at a moment: in its order, up to the first that is behind the place, or that is written
 * later than the time. Each process has a clock of its own, and `at` only grows within a stream: an event that a slow
 * clock wrote behind one that is later than the time is left out with it, so that what is left is always a beginning of
 * the log, with nothing in it that was not caused by what stands in it.
 */
export async function* untilMoment(
  events: AsyncIterable<StoredEvent>,
  moment: Moment,
): AsyncGenerator<StoredEvent, undefined> {
  for await (const event of events) {
    if (isBehind(event, moment)) return undefined
    yield event
  }
  return undefined
}

function isBehind({ position, metadata }: StoredEvent, moment: Moment): boolean {
  if ('position' in moment) return comparePositions(position, moment.position) > 0
  // The first event of a log has no time.
  return Date.parse(metadata['at'] ?? '') > moment.time
}

/** A moment that the log has not reached has no state yet. */
export const isReached = (head: From, now: number, moment: Moment): boolean =>
  'position' in moment ? comparePositions(moment.position, head) <= 0 : moment.time < now
