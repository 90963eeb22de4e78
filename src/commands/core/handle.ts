import type { EventStore, Position, Revision, StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-id.ts'
import type { Origin } from '../../events/origin.ts'
import { stamp } from './stamp.ts'
import type { StreamQueue } from './stream-queue.ts'
import { tries } from './tries.ts'

export type DomainEvent = { readonly type: string; readonly data: object }

/** How a stream becomes a state: pure, total, in src/domain. */
export type Fold<State, Event extends DomainEvent> = {
  readonly initial: State
  readonly evolve: (state: State, event: Event) => State
  /** For streams that grow long: their newest `count` events do where the state these make suffices; else all are read. */
  readonly newest?: { readonly count: number; readonly suffices: (state: State) => boolean }
}

/** What every command writes with. One a process. */
export type Writing = {
  readonly store: EventStore
  readonly queue: StreamQueue
  /** Milliseconds since 1970, UTC. */
  readonly clock: () => number
}

/** A caller's wish: `id` names it for good, so that a repeat of it is recognised by its events' ids. */
export type Wish = { readonly stream: string; readonly id: string; readonly origin: Origin }

export type Handled<State, Event> = {
  readonly state: State
  /** What was decided now, or had been stored by an earlier try of the same wish. */
  readonly events: readonly Event[]
  /** Of the last of these events; of the stream where nothing had to be written. */
  readonly revision: Revision
  /** Where the last event stands; undefined when nothing had to be written. */
  readonly position: Position | undefined
}

/** Only another process can win a race (a stream's commands queue within one): rare and short. */
const ATTEMPTS = 5

/**
 * Loads a stream, decides on its state, and appends what was decided; tries again when another writer was first or
 * when nobody knows whether the append arrived (tries.ts). An earlier try of the same wish that was stored is answered as success.
 * @param decide gets the state, the time (ms; never before the stream's last event) and the stream's revision; it may
 *   run several times
 * @throws what `decide` throws, WrongRevision after the last attempt, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  writing: Writing,
  wish: Wish,
  fold: Fold<State, Event>,
  decide: (state: State, now: number, revision: Revision) => readonly Event[],
): Promise<Handled<State, Event>> {
  return writing.queue.run(wish.stream, async () => {
    const isTriedAgain = tries(ATTEMPTS)
    for (let attempt = 1; ; attempt++) {
      const loaded = await load(writing.store, wish.stream, fold, wish.id)
      if (loaded.own.length > 0) return { ...loaded, events: loaded.own }
      const now = Math.max(writing.clock(), loaded.at)
      const events = decide(loaded.state, now, loaded.revision)
      if (events.length === 0) return { ...loaded, events, position: undefined }
      try {
        const position = await writing.store.append(wish.stream, loaded.revision, toAppend(wish, events, now))
        const state = events.reduce((folded, event) => fold.evolve(folded, event), loaded.state)
        return { state, events, revision: after(loaded.revision, events.length), position }
      } catch (error) {
        if (!isTriedAgain(error)) throw error
        await pause(attempt)
      }
    }
  })
}

/** The state of a stream, its revision or that of what wish `id` wrote, the time of its last event (ms, 0 for none), and what wish `id` wrote. */
export async function load<State, Event extends DomainEvent>(
  store: EventStore,
  stream: string,
  fold: Fold<State, Event>,
  id?: string,
): Promise<Loaded<State, Event>> {
  const { newest } = fold
  if (newest === undefined) return foldStored(await store.read(stream), fold, id)
  const tail = await store.read(stream, { last: newest.count })
  const loaded = foldStored(tail, fold, id)
  if (tail.length < newest.count || newest.suffices(loaded.state)) return loaded
  return foldStored(await store.read(stream), fold, id)
}

function foldStored<State, Event extends DomainEvent>(
  stored: readonly StoredEvent[],
  fold: Fold<State, Event>,
  id: string | undefined,
): Loaded<State, Event> {
  const first = id === undefined ? undefined : eventId(id, 0)
  let state = fold.initial
  let position: Position | undefined
  let revision: Revision = stored.at(-1)?.revision ?? 'none'
  let own: Event[] = []
  let ownFrom = -1
  for (const [index, event] of stored.entries()) {
    const decoded = decode<Event>(event)
    state = fold.evolve(state, decoded)
    if (event.id === first) ownFrom = index
    if (ownFrom >= 0 && event.id === eventId(id ?? '', index - ownFrom)) {
      own = [...own, decoded]
      position = event.position
      revision = event.revision
    }
  }
  return { state, own, revision, at: timeOf(stored.at(-1)?.metadata['at']), position }
}

export type Loaded<State, Event> = {
  readonly state: State
  readonly own: readonly Event[]
  readonly revision: Revision
  readonly at: number
  readonly position: Position | undefined
}

/** The wish's events as the store takes them, with ids that a repeat will have again. */
export function toAppend(wish: Wish, events: readonly DomainEvent[], now: number) {
  const stamped = stamp(wish.origin, now)
  return events.map((event, index) => stamped(eventId(wish.id, index), event))
}

export const after = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)

const timeOf = (at: string | undefined) => (at === undefined ? 0 : Date.parse(at) || 0)
/** Longer with every attempt, and never the same for two processes. */
export const pause = (attempt: number) =>
  new Promise<void>((done) => setTimeout(done, attempt * 10 * (1 + Math.random())))
