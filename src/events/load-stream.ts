import type { Fold, DomainEvent } from '../domain/fold.ts'
import type { EventStore, Position, Revision, StoredEvent } from '../stores/ports/event-store.ts'
import { decode, isDecodeError } from './decode.ts'
import { eventId, eventTimeOf } from './event-metadata.ts'

export type LoadedStream<State, Event> = {
  readonly state: State
  /** Events of an earlier attempt at the same command. `revision` and `position` are then those of the last of them. */
  readonly commandEvents: readonly Event[]
  readonly revision: Revision
  readonly position: Position | undefined
  /** Id and time (milliseconds since 1970) of the stream's last event; undefined and 0 for an empty stream. */
  readonly lastEventId: string | undefined
  readonly lastEventAt: number
}

/**
 * Reads and folds a stream.
 * @param commandId command whose earlier events to look for
 * @throws StoreUnavailable; UnsupportedEventVersion, InvalidEventPayload for an event that can't be decoded here
 */
export async function loadStream<State, Event extends DomainEvent>(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  fold: Fold<State, Event>,
  commandId?: string,
): Promise<LoadedStream<State, Event>> {
  const { tail: tailOptions } = fold
  if (tailOptions === undefined) return toLoadedStream(await store.readStream(stream), fold, commandId)
  const tail = await store.readStream(stream, { last: tailOptions.count })
  const loaded = toLoadedStream(tail, fold, commandId)
  if (tail.length < tailOptions.count || tailOptions.isSufficient(loaded.state)) return loaded
  return toLoadedStream(await store.readStream(stream), fold, commandId)
}

function toLoadedStream<State, Event extends DomainEvent>(
  stored: readonly StoredEvent[],
  { initialState, evolve }: Fold<State, Event>,
  commandId: string | undefined,
): LoadedStream<State, Event> {
  const firstId = commandId === undefined ? undefined : eventId(commandId, 0)
  const last = stored.at(-1)
  let state = initialState
  let position: Position | undefined
  let revision: Revision = last?.revision ?? 'none'
  const commandEvents: Event[] = []
  let firstIndex = -1
  for (const [index, event] of stored.entries()) {
    const decoded = decode<Event>(event)
    state = evolve(state, decoded)
    if (event.id === firstId) firstIndex = index
    if (firstIndex >= 0 && event.id === eventId(commandId ?? '', index - firstIndex)) {
      commandEvents.push(decoded)
      position = event.position
      revision = event.revision
    }
  }
  return { state, commandEvents, revision, position, lastEventId: last?.id, lastEventAt: eventTimeOf(last) }
}

export const emptyStream = <State, Event extends DomainEvent>({
  initialState,
}: Fold<State, Event>): LoadedStream<State, Event> => ({
  state: initialState,
  commandEvents: [],
  revision: 'none',
  position: undefined,
  lastEventId: undefined,
  lastEventAt: 0,
})

/** @throws UnsupportedEventVersion, InvalidEventPayload */
export const foldEvents = <State, Event extends DomainEvent>(
  { initialState, evolve }: Fold<State, Event>,
  stored: readonly StoredEvent[],
): State => stored.reduce((state, event) => evolve(state, decode<Event>(event)), initialState)

/**
 * The states of all streams of a category, in the order of their first events. Reads the whole category: for operator
 * commands, not for requests.
 * @param prefix such as `account-`
 * @param onSkippedEvent called for each event that can't be decoded; the state is folded without it
 * @returns states by the rest of the stream's name
 */
export async function foldStreams<State, Event extends DomainEvent>(
  store: EventStore,
  prefix: string,
  { initialState, evolve }: Fold<State, Event>,
  onSkippedEvent: (stream: string, error: Error) => void,
): Promise<Map<string, State>> {
  const states = new Map<string, State>()
  for await (const event of store.readAll('start', { prefixes: [prefix] })) {
    const id = event.stream.slice(prefix.length)
    try {
      states.set(id, evolve(states.get(id) ?? initialState, decode<Event>(event)))
    } catch (error) {
      if (!isDecodeError(error)) throw error
      onSkippedEvent(event.stream, error)
    }
  }
  return states
}
