/** What happened: a type, and its data as the schema of that type has them. */
export type DomainEvent = { readonly type: string; readonly data: object }

/**
 * How a stream becomes a state. What may happen in a state is decided by functions beside it, which take the state and give
 * events. All of them are pure.
 */
export type Decider<State, Event extends DomainEvent> = {
  /** Of a stream without events. */
  readonly initialState: State
  /** Total: an event that this release does not know leaves the state as it was. */
  readonly evolve: (state: State, event: Event) => State
  /** For streams that grow long: their newest `count` events do where the state these make suffices; else all are read. */
  readonly newest?: { readonly count: number; readonly suffices: (state: State) => boolean }
}
