/** An event before it is stored: its type and its payload. */
export type DomainEvent = { readonly type: string; readonly data: object }

/**
 * Folds the events of a stream into a state. The decisions are separate functions, which take the state and return events.
 * All of them are pure.
 */
export type Fold<State, Event extends DomainEvent> = {
  readonly initialState: State
  /** Total: an event type that this release does not know leaves the state unchanged. */
  readonly evolve: (state: State, event: Event) => State
  /** For long streams: only the newest `count` events are read if the state folded from them is sufficient, else all. */
  readonly tail?: { readonly count: number; readonly isSufficient: (state: State) => boolean }
}

/** For streams with one event type: the state is the payload of the newest event, undefined for an empty stream. */
export const latestEventFold = <Event extends DomainEvent>(
  type: Event['type'],
): Fold<Event['data'] | undefined, Event> => ({
  initialState: undefined,
  evolve: (state, event) => (event.type === type ? event.data : state),
  tail: { count: 1, isSufficient: () => true },
})
