import { randomUUID } from 'node:crypto'
import type { Origin } from '../../events/origin.ts'
import { WrongRevision, type EventStore, type Position, type Revision } from '../../stores/ports/event-store.ts'
import { FoldedStates, type Folded } from './folded-states.ts'
import { load, type DomainEvent, type Fold } from './load.ts'
import { CommandOutcomes } from './outcomes.ts'
import { toAppend } from './stamp.ts'
import { StreamQueue } from './stream-queue.ts'
import { pause, tries } from './tries.ts'

/** What every command writes with. One a process. */
export type Writing = {
  readonly store: EventStore
  readonly queue: StreamQueue
  readonly states: FoldedStates
  readonly outcomes: CommandOutcomes
  /** Milliseconds since 1970, UTC. */
  readonly clock: () => number
}

/** What a process writes to a store with. */
export const writingTo = (store: EventStore, clock: () => number): Writing => ({
  store,
  queue: new StreamQueue(),
  states: new FoldedStates(),
  outcomes: new CommandOutcomes(),
  clock,
})

/**
 * What a caller wants of a stream. `id` names it for good, where it may have been wanted before: its events are then found
 * and not repeated.
 */
export type Wish = { readonly stream: string; readonly id?: string; readonly origin: Origin }

/** @param now never before the stream's last event, in milliseconds; may run several times */
export type Decide<State, Event> = (state: State, now: number, revision: Revision) => readonly Event[]

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
 * when nobody knows whether the append arrived (tries.ts). An earlier try of the same wish that was stored is answered as
 * success. Where this process knows the stream's state (folded-states.ts), that is decided on without reading, and the
 * append shows whether it was right; what would write nothing, and so not show it, is decided on the stream as it is.
 * @throws what `decide` throws, WrongRevision after the last attempt, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  writing: Writing,
  wish: Wish,
  fold: Fold<State, Event>,
  decide: Decide<State, Event>,
): Promise<Handled<State, Event>> {
  const { queue, outcomes } = writing
  return queue.run(wish.stream, () => outcomes.of(wish.stream, () => handleNow(writing, wish, fold, decide)))
}

async function handleNow<State, Event extends DomainEvent>(
  writing: Writing,
  wish: Wish,
  fold: Fold<State, Event>,
  decide: Decide<State, Event>,
): Promise<Handled<State, Event>> {
  const { store, states, outcomes, clock } = writing
  const { stream, origin, id = randomUUID() } = wish
  const command = { stream, origin, id, fold }
  const isNew = wish.id === undefined
  const isTriedAgain = tries(ATTEMPTS)
  const known = isNew ? states.find(stream, fold) : undefined
  const guessed = known && decidedOnKnown(known, decide, clock())
  if (known !== undefined && guessed !== undefined) {
    try {
      return await append(writing, command, known, guessed)
    } catch (error) {
      if (!(error instanceof WrongRevision) && !isTriedAgain(error)) throw error
      outcomes.retried(stream, error)
    }
  }
  for (let attempt = 1; ; attempt++) {
    const loaded = isNew ? await states.load(store, stream, fold, id) : await load(store, stream, fold, id)
    const { state, revision, own, position } = loaded
    if (own.length > 0) return { state, events: own, revision, position }
    const now = Math.max(clock(), loaded.at)
    const events = decide(state, now, revision)
    if (events.length === 0) return { state, events, revision, position: undefined }
    try {
      return await append(writing, command, loaded, { events, now })
    } catch (error) {
      if (!isTriedAgain(error)) throw error
      outcomes.retried(stream, error)
      await pause(attempt)
    }
  }
}

type Decided<Event> = { readonly events: readonly Event[]; readonly now: number }

/** What is to be written on top of a state that may be outdated; undefined where that is nothing, or it is refused. */
function decidedOnKnown<State, Event>(
  { state, revision, at }: Folded<State>,
  decide: Decide<State, Event>,
  clock: number,
): Decided<Event> | undefined {
  const now = Math.max(clock, at)
  try {
    const events = decide(state, now, revision)
    return events.length > 0 ? { events, now } : undefined
  } catch {
    return undefined // It is decided again on the stream as it is, and refused then if it still has to be.
  }
}

type Command<State, Event extends DomainEvent> = Required<Wish> & { readonly fold: Fold<State, Event> }

async function append<State, Event extends DomainEvent>(
  { store, states }: Writing,
  { stream, origin, id, fold }: Command<State, Event>,
  before: { readonly state: State; readonly revision: Revision },
  { events, now }: Decided<Event>,
): Promise<Handled<State, Event>> {
  const stamped = toAppend({ id, origin }, events, now)
  const position = await store.append(stream, before.revision, stamped)
  const state = events.reduce((folded, event) => fold.evolve(folded, event), before.state)
  const revision = after(before.revision, events.length)
  states.keep(stream, fold, { state, revision, last: stamped.at(-1)?.id ?? '', at: now })
  return { state, events, revision, position }
}

/** The revision of a stream's last event when `count` more were appended. */
export const after = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)
