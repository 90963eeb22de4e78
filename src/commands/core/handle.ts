import { randomUUID } from 'node:crypto'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import { isDecodeError } from '../../events/decode.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { Origin } from '../../events/event-metadata.ts'
import {
  OutcomeUnknown,
  WrongRevision,
  type Append,
  type EventStore,
  type Position,
  type Revision,
} from '../../stores/ports/event-store.ts'
import { appendAll, toNewEvents, type AppendContext } from './append.ts'
import { StateCache, type CachedState } from './state-cache.ts'
import { CommandOutcomes } from './command-outcomes.ts'
import { withRetry } from './retry.ts'

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
export type CommandContext = AppendContext & {
  readonly queue: StreamQueue
  readonly stateCache: StateCache
  readonly outcomes: CommandOutcomes
  /** Milliseconds since 1970, UTC. */
  readonly clock: () => number
}

/** What a process writes to a store with. */
export const createCommandContext = (store: EventStore, clock: () => number): CommandContext => ({
  store,
  queue: new StreamQueue(),
  stateCache: new StateCache(),
  outcomes: new CommandOutcomes(),
  clock,
})

/**
 * What a caller wants of a stream. `id` names it for good, where it may have been wanted before: its events are then found
 * and not repeated. `isNew`: the stream can't have events yet, unless this is a repeat.
 */
export type CommandTarget = {
  readonly stream: string
  readonly id?: string
  readonly isNew?: boolean
  readonly origin: Origin
}

/** @param now never before the stream's last event, in milliseconds; may run several times */
export type Decide<State, Event> = (state: State, now: number, revision: Revision) => readonly Event[]

export type CommandResult<State, Event> = {
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
 * success. Where the stream is new, or this process knows its state (state-cache.ts), that is decided on without reading,
 * and the append shows whether it was right; what would write nothing, and so not show it, is decided on the stream as it is.
 * @throws what `decide` throws, WrongRevision after the last try, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  context: CommandContext,
  target: CommandTarget,
  decider: Decider<State, Event>,
  decide: Decide<State, Event>,
): Promise<CommandResult<State, Event>> {
  const { queue, outcomes, monotonic } = context
  const { stream } = target
  const onRetry = (error: unknown) => outcomes.countRetry(stream, error)
  const command = { ...target, id: target.id ?? randomUUID(), decider, decide, isNamed: target.id !== undefined }
  const handling = () =>
    withRetry({ on: [WrongRevision, OutcomeUnknown], onRetry, monotonic }, (attempt) =>
      attemptCommand(context, command, attempt),
    )
  return queue.run(stream, () => outcomes.track(stream, handling))
}

type Command<State, Event extends DomainEvent> = CommandTarget & {
  readonly id: string
  /** Whether the id is the caller's: the stream may have its events then. */
  readonly isNamed: boolean
  readonly decider: Decider<State, Event>
  readonly decide: Decide<State, Event>
}

async function attemptCommand<State, Event extends DomainEvent>(
  context: CommandContext,
  command: Command<State, Event>,
  attempt: number,
): Promise<CommandResult<State, Event>> {
  const { store, stateCache, clock } = context
  const { stream, id, isNamed, decider, decide } = command
  const cached = attempt === 1 ? findCachedState(stateCache, command) : undefined
  const optimistic = cached && decideOnCachedState(cached, decide, clock())
  if (cached !== undefined && optimistic !== undefined) return append(context, command, cached, optimistic)
  const loaded = await (isNamed ? loadStream(store, stream, decider, id) : stateCache.load(store, stream, decider, id))
  const { state, revision, commandEvents, position } = loaded
  if (commandEvents.length > 0) return { state, events: commandEvents, revision, position }
  const now = Math.max(clock(), loaded.lastEventAt)
  const events = decide(state, now, revision)
  if (events.length === 0) return { state, events, revision, position: undefined }
  return append(context, command, loaded, { events, now })
}

/** The stream's state as far as it is known without reading, which may be outdated. */
function findCachedState<State, Event extends DomainEvent>(
  stateCache: StateCache,
  { stream, decider, isNew, isNamed }: Command<State, Event>,
): Omit<CachedState<State>, 'lastEventId'> | undefined {
  if (isNew === true) return { state: decider.initialState, revision: 'none', lastEventAt: 0 }
  return isNamed ? undefined : stateCache.find(stream, decider)
}

type CommandDecision<Event> = { readonly events: readonly Event[]; readonly now: number }

/** What is to be written on top of a state that may be outdated; undefined where that is nothing, or it is refused. */
function decideOnCachedState<State, Event>(
  { state, revision, lastEventAt }: Omit<CachedState<State>, 'lastEventId'>,
  decide: Decide<State, Event>,
  clock: number,
): CommandDecision<Event> | undefined {
  const now = Math.max(clock, lastEventAt)
  try {
    const events = decide(state, now, revision)
    return events.length > 0 ? { events, now } : undefined
  } catch {
    return undefined // It is decided again on the stream as it is, and refused then if it still has to be.
  }
}

async function append<State, Event extends DomainEvent>(
  { store, stateCache }: CommandContext,
  { stream, origin, id, decider }: Command<State, Event>,
  before: { readonly state: State; readonly revision: Revision },
  { events, now }: CommandDecision<Event>,
): Promise<CommandResult<State, Event>> {
  const stamped = toNewEvents({ id, origin }, events, now)
  const position = await store.append(stream, before.revision, stamped)
  const state = events.reduce((folded, event) => decider.evolve(folded, event), before.state)
  const revision = revisionAfter(before.revision, events.length)
  stateCache.put(stream, decider, { state, revision, lastEventId: stamped.at(-1)?.id ?? '', lastEventAt: now })
  return { state, events, revision, position }
}

/** The revision of a stream's last event when `count` more were appended. */
export const revisionAfter = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)

/** What is wanted of one stream among others. */
export type StreamCommand<State, Event> = CommandTarget & { readonly id: string; readonly decide: Decide<State, Event> }

/**
 * Handles what is wanted of many streams, each for itself, and appends it in one call. A stream whose events are of a newer
 * release is left alone.
 * @returns how many streams were written to; the others had nothing to be written, or had it from an earlier try
 * @throws what `decide` throws, WrongRevision after the last try, OutcomeUnknown, StoreUnavailable
 */
export const handleEach = <State, Event extends DomainEvent>(
  context: CommandContext,
  commands: readonly StreamCommand<State, Event>[],
  decider: Decider<State, Event>,
): Promise<number> =>
  withRetry({ on: [WrongRevision, OutcomeUnknown], monotonic: context.monotonic }, async (attempt) => {
    const found = await Promise.all(commands.map((command) => decideStreamAppend(context, command, decider, attempt)))
    const appends = found.filter((append) => append !== undefined)
    if (appends.length > 0) await appendAll(context, appends)
    return appends.length
  })

/** Without reading for a stream that is new, at the first try. */
function decideStreamAppend<State, Event extends DomainEvent>(
  context: CommandContext,
  command: StreamCommand<State, Event>,
  decider: Decider<State, Event>,
  attempt: number,
): Append | undefined | Promise<Append | undefined> {
  if (command.isNew !== true || attempt > 1) return loadAndDecideAppend(context, command, decider)
  return decideAppend(command, { state: decider.initialState, revision: 'none' }, context.clock())
}

async function loadAndDecideAppend<State, Event extends DomainEvent>(
  { store, clock }: CommandContext,
  command: StreamCommand<State, Event>,
  decider: Decider<State, Event>,
): Promise<Append | undefined> {
  try {
    const loaded = await loadStream(store, command.stream, decider, command.id)
    return loaded.commandEvents.length > 0
      ? undefined
      : decideAppend(command, loaded, Math.max(clock(), loaded.lastEventAt))
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

function decideAppend<State, Event extends DomainEvent>(
  { stream, decide, ...command }: StreamCommand<State, Event>,
  { state, revision }: { readonly state: State; readonly revision: Append['expected'] },
  now: number,
): Append | undefined {
  const events = decide(state, now, revision)
  return events.length === 0 ? undefined : { stream, expected: revision, events: toNewEvents(command, events, now) }
}
