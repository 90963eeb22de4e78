import { randomUUID } from 'node:crypto'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import { isUndecodable } from '../../events/decode.ts'
import { load } from '../../events/load.ts'
import type { Origin } from '../../events/origin.ts'
import {
  OutcomeUnknown,
  WrongRevision,
  type Append,
  type EventStore,
  type Position,
  type Revision,
} from '../../stores/ports/event-store.ts'
import { appendAll, toAppend, type Appending } from './append.ts'
import { FoldedStates, type Folded } from './folded-states.ts'
import { CommandOutcomes } from './outcomes.ts'
import { retrying } from './retry.ts'

/** Runs the commands of one stream one after another within this process; commands of other streams don't wait. */
class StreamQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(stream)
    const result = previous === undefined ? task() : previous.then(task, task)
    this.#remember([stream], result)
    return result
  }

  /** A command on several streams stands in all their queues from the same moment on, so that no two wait for each other. */
  runAll<Result>(streams: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const previous = [...new Set(streams.flatMap((stream) => this.#last.get(stream) ?? []))]
    const result = previous.length === 0 ? task() : Promise.allSettled(previous).then(task)
    this.#remember(streams, result)
    return result
  }

  #remember(streams: readonly string[], result: Promise<unknown>): void {
    for (const stream of streams) this.#last.set(stream, result)
    const forget = () => {
      for (const stream of streams) if (this.#last.get(stream) === result) this.#last.delete(stream)
    }
    result.then(forget, forget)
  }
}

/** What every command writes with. One a process. */
export type Writing = Appending & {
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
 * and not repeated. `isNew`: the stream can't have events yet, unless this is a repeat.
 */
export type Wish = { readonly stream: string; readonly id?: string; readonly isNew?: boolean; readonly origin: Origin }

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

/**
 * Loads a stream, decides on its state, and appends what was decided; tries again when another writer was first or
 * when nobody knows whether the append arrived (retry.ts). An earlier try of the same wish that was stored is answered as
 * success. Where the stream is new, or this process knows its state (folded-states.ts), that is decided on without reading,
 * and the append shows whether it was right; what would write nothing, and so not show it, is decided on the stream as it is.
 * @throws what `decide` throws, WrongRevision after the last try, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  writing: Writing,
  wish: Wish,
  decider: Decider<State, Event>,
  decide: Decide<State, Event>,
): Promise<Handled<State, Event>> {
  const { queue, outcomes, monotonic } = writing
  const { stream } = wish
  const failed = (error: unknown) => outcomes.retried(stream, error)
  const command = { ...wish, id: wish.id ?? randomUUID(), decider, decide, isNamed: wish.id !== undefined }
  const handling = () =>
    retrying({ on: [WrongRevision, OutcomeUnknown], failed, monotonic }, (attempt) => tried(writing, command, attempt))
  return queue.run(stream, () => outcomes.of(stream, handling))
}

type Command<State, Event extends DomainEvent> = Wish & {
  readonly id: string
  /** Whether the id is the caller's: the stream may have its events then. */
  readonly isNamed: boolean
  readonly decider: Decider<State, Event>
  readonly decide: Decide<State, Event>
}

async function tried<State, Event extends DomainEvent>(
  writing: Writing,
  command: Command<State, Event>,
  attempt: number,
): Promise<Handled<State, Event>> {
  const { store, states, clock } = writing
  const { stream, id, isNamed, decider, decide } = command
  const known = attempt === 1 ? knownBefore(states, command) : undefined
  const guessed = known && decidedOnKnown(known, decide, clock())
  if (known !== undefined && guessed !== undefined) return append(writing, command, known, guessed)
  const loaded = await (isNamed ? load(store, stream, decider, id) : states.load(store, stream, decider, id))
  const { state, revision, own, position } = loaded
  if (own.length > 0) return { state, events: own, revision, position }
  const now = Math.max(clock(), loaded.at)
  const events = decide(state, now, revision)
  if (events.length === 0) return { state, events, revision, position: undefined }
  return append(writing, command, loaded, { events, now })
}

/** The stream's state as far as it is known without reading, which may be outdated. */
function knownBefore<State, Event extends DomainEvent>(
  states: FoldedStates,
  { stream, decider, isNew, isNamed }: Command<State, Event>,
): Omit<Folded<State>, 'last'> | undefined {
  if (isNew === true) return { state: decider.initialState, revision: 'none', at: 0 }
  return isNamed ? undefined : states.find(stream, decider)
}

type Decided<Event> = { readonly events: readonly Event[]; readonly now: number }

/** What is to be written on top of a state that may be outdated; undefined where that is nothing, or it is refused. */
function decidedOnKnown<State, Event>(
  { state, revision, at }: Omit<Folded<State>, 'last'>,
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

async function append<State, Event extends DomainEvent>(
  { store, states }: Writing,
  { stream, origin, id, decider }: Command<State, Event>,
  before: { readonly state: State; readonly revision: Revision },
  { events, now }: Decided<Event>,
): Promise<Handled<State, Event>> {
  const stamped = toAppend({ id, origin }, events, now)
  const position = await store.append(stream, before.revision, stamped)
  const state = events.reduce((folded, event) => decider.evolve(folded, event), before.state)
  const revision = after(before.revision, events.length)
  states.keep(stream, decider, { state, revision, last: stamped.at(-1)?.id ?? '', at: now })
  return { state, events, revision, position }
}

/** The revision of a stream's last event when `count` more were appended. */
export const after = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)

/** What is wanted of one stream among others. */
export type EachWish<State, Event> = Wish & { readonly id: string; readonly decide: Decide<State, Event> }

/**
 * Handles what is wanted of many streams, each for itself, and appends it in one call. A stream whose events are of a newer
 * release is left alone.
 * @returns how many streams were written to; the others had nothing to be written, or had it from an earlier try
 * @throws what `decide` throws, WrongRevision after the last try, OutcomeUnknown, StoreUnavailable
 */
export const handleEach = <State, Event extends DomainEvent>(
  writing: Writing,
  wishes: readonly EachWish<State, Event>[],
  decider: Decider<State, Event>,
): Promise<number> =>
  retrying({ on: [WrongRevision, OutcomeUnknown], monotonic: writing.monotonic }, async (attempt) => {
    const found = await Promise.all(wishes.map((wish) => changeOf(writing, wish, decider, attempt)))
    const appends = found.filter((append) => append !== undefined)
    if (appends.length > 0) await appendAll(writing, appends)
    return appends.length
  })

/** Without reading for a stream that is new, at the first try. */
function changeOf<State, Event extends DomainEvent>(
  writing: Writing,
  wish: EachWish<State, Event>,
  decider: Decider<State, Event>,
  attempt: number,
): Append | undefined | Promise<Append | undefined> {
  if (wish.isNew !== true || attempt > 1) return loadedChange(writing, wish, decider)
  return change(wish, { state: decider.initialState, revision: 'none' }, writing.clock())
}

async function loadedChange<State, Event extends DomainEvent>(
  { store, clock }: Writing,
  wish: EachWish<State, Event>,
  decider: Decider<State, Event>,
): Promise<Append | undefined> {
  try {
    const loaded = await load(store, wish.stream, decider, wish.id)
    return loaded.own.length > 0 ? undefined : change(wish, loaded, Math.max(clock(), loaded.at))
  } catch (error) {
    if (isUndecodable(error)) return undefined
    throw error
  }
}

function change<State, Event extends DomainEvent>(
  { stream, decide, ...wish }: EachWish<State, Event>,
  { state, revision }: { readonly state: State; readonly revision: Append['expected'] },
  now: number,
): Append | undefined {
  const events = decide(state, now, revision)
  return events.length === 0 ? undefined : { stream, expected: revision, events: toAppend(wish, events, now) }
}
