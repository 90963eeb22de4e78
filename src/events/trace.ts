import type { StoredEvent } from '../stores/ports/event-store.ts'

/** The trace's id in a `traceparent`, as tracing systems show it: 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The trace that an event is a part of, for what a follower does because of it. */
export function traceIn({ metadata }: Pick<StoredEvent, 'metadata'>): { readonly trace?: string } {
  const { traceparent } = metadata
  return traceparent === undefined ? {} : { trace: traceparent }
}
