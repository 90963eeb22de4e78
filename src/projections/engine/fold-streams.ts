import type { Decider, DomainEvent } from '../../domain/decider.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { decode, isUndecodable } from '../../events/decode.ts'

/**
 * The states of all streams of a category, in the order of their first events. It reads the category from the start:
 * for what an operator asks now and then, not for requests.
 * @param prefix such as `account-`
 * @param passedOver told of each event that this release does not understand: its stream's state goes without it
 * @returns states by what follows the prefix in the stream's name
 */
export async function foldStreams<State, Event extends DomainEvent>(
  store: EventStore,
  prefix: string,
  { initialState, evolve }: Decider<State, Event>,
  passedOver: (stream: string, error: Error) => void,
): Promise<Map<string, State>> {
  const states = new Map<string, State>()
  for await (const event of store.readAll('start', { prefixes: [prefix] })) {
    const id = event.stream.slice(prefix.length)
    try {
      states.set(id, evolve(states.get(id) ?? initialState, decode<Event>(event)))
    } catch (error) {
      if (!isUndecodable(error)) throw error
      passedOver(event.stream, error)
    }
  }
  return states
}
