import { randomUUID } from 'node:crypto'
import type { Fold, DomainEvent } from '../../domain/fold.ts'
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

/** Serializes the commands of each stream within this process. Commands on different streams run concurrently. */
class StreamQueue {
  readonly #lastTasks = new Map<string, Promise<unknown>>()

  run<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#lastTasks.get(stream)
    const result = previous === undefined ? task() : previous.then(task, task)
    this.#setLastTask([stream], result)
    return result
  }

  /** Enters the queues of all streams at once, so that two commands on several streams can't deadlock. */
  runAll<Result>(streams: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const previous = [...new Set(streams.flatMap((stream) => this.#lastTasks.get(stream) ?? []))]
    const result = previous.length === 0 ? task() : Promise.allSettled(previous).then(task)
    this.#setLastTask(streams, result)
    return result
  }

  #setLastTask(streams: readonly string[], result: Promise<unknown>): void {
    for (const stream of streams) this.#lastTasks.set(stream, result)
    const forget = () => {
      for (const stream of streams) if (this.#lastTasks.get(stream) === result) this.#lastTasks.delete(stream)
    }
    result.then(forget, forget)
  }
}

/** Shared by all commands of a process. */
export type CommandContext = AppendContext & {
  readonly queue: StreamQueue
  readonly stateCache: StateCache
  readonly outcomes: CommandOutcomes
  /** Milliseconds since 1970, UTC. */
  readonly clock: () => number
}

export const createCommandContext = (store: EventStore, clock: () => number): CommandContext => ({
  store,
  queue: new StreamQueue(),
  stateCache: new StateCache(),
  outcomes: new CommandOutcomes(),
  clock,
})

/**
 * The stream that a command changes. `id` identifies the command permanently: if events of an earlier attempt with the
 * same id are found, the command is not repeated. `isNew` means that the stream has no events yet, unless this is a
 * repeat.
 */
export type CommandTarget = {
  readonly stream: string
  readonly id?: string
  readonly isNew?: boolean
  readonly origin: Origin
}

/** May run several times. @param now milliseconds since 1970; never before the stream's last event */
export type Decide<State, Event> = (state: State, now: number, revision: Revision) => readonly Event[]

type CommandResult<State, Event> = {
  readonly state: State
  /** The events appended now, or by an earlier attempt with the same command id. */
  readonly events: readonly Event[]
  /** The revision of the last of these events, or of the stream if nothing was appended. */
  readonly revision: Revision
  /** The position of the last event; undefined if nothing was appended. */
  readonly position: Position | undefined
}

/**
 * The command handler: loads a stream, decides on its state, and appends the events at the expected revision. It
 * retries after a conflict with another writer and after an append with unknown outcome (see retry.ts). A command that
 * was already stored by an earlier attempt succeeds with that attempt's events.
 * A new stream is not read, and a state from the cache (state-cache.ts) is used optimistically: the append at its
 * revision fails if it is outdated. If the cached state leads to no events or to an error, the stream is read and
 * decided again.
 * @throws whatever `decide` throws, WrongRevision after the last attempt, EventsRemoved, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  context: CommandContext,
  target: CommandTarget,
  fold: Fold<State, Event>,
  decide: Decide<State, Event>,
): Promise<CommandResult<State, Event>> {
  const { queue, outcomes, monotonic } = context
  const { stream } = target
  const onRetry = (error: unknown) => outcomes.countRetry(stream, error)
  const command = { ...target, id: target.id ?? randomUUID(), fold, decide, hasExplicitId: target.id !== undefined }
  const handleWithRetry = () =>
    withRetry({ on: [WrongRevision, OutcomeUnknown], onRetry, monotonic }, (attempt) =>
      attemptCommand(context, command, attempt),
    )
  return queue.run(stream, () => outcomes.track(stream, handleWithRetry))
}

type Command<State, Event extends DomainEvent> = CommandTarget & {
  readonly id: string
  /** Whether the caller gave the command id: the stream may then contain events of an earlier attempt. */
  readonly hasExplicitId: boolean
  readonly fold: Fold<State, Event>
  readonly decide: Decide<State, Event>
}

async function attemptCommand<State, Event extends DomainEvent>(
  context: CommandContext,
  command: Command<State, Event>,
  attempt: number,
): Promise<CommandResult<State, Event>> {
  const { store, stateCache, clock } = context
  const { stream, id, hasExplicitId, fold, decide } = command
  const cached = attempt === 1 ? findCachedState(stateCache, command) : undefined
  const optimisticDecision = cached && decideOnCachedState(cached, decide, clock())
  if (cached !== undefined && optimisticDecision !== undefined)
    return append(context, command, cached, optimisticDecision)
  const loaded = await (hasExplicitId ? loadStream(store, stream, fold, id) : stateCache.load(store, stream, fold, id))
  const { state, revision, commandEvents, position } = loaded
  if (commandEvents.length > 0) return { state, events: commandEvents, revision, position }
  const now = Math.max(clock(), loaded.lastEventAt)
  const events = decide(state, now, revision)
  if (events.length === 0) return { state, events, revision, position: undefined }
  return append(context, command, loaded, { events, now })
}

/** The state as far as it is known without reading. It may be outdated. */
function findCachedState<State, Event extends DomainEvent>(
  stateCache: StateCache,
  { stream, fold, isNew, hasExplicitId }: Command<State, Event>,
): Omit<CachedState<State>, 'lastEventId'> | undefined {
  if (isNew === true) return { state: fold.initialState, revision: 'none', lastEventAt: 0 }
  return hasExplicitId ? undefined : stateCache.find(stream, fold)
}

type CommandDecision<Event> = { readonly events: readonly Event[]; readonly now: number }

/** Returns undefined if `decide` returns no events or throws on the possibly outdated state. */
function decideOnCachedState<State, Event>(
  { state, revision, lastEventAt }: Omit<CachedState<State>, 'lastEventId'>,
  decide: Decide<State, Event>,
  clockTime: number,
): CommandDecision<Event> | undefined {
  const now = Math.max(clockTime, lastEventAt)
  try {
    const events = decide(state, now, revision)
    return events.length > 0 ? { events, now } : undefined
  } catch {
    return undefined // The caller reads the stream and decides again; if the error is real, it is thrown then.
  }
}

async function append<State, Event extends DomainEvent>(
  { store, stateCache }: CommandContext,
  { stream, origin, id, fold }: Command<State, Event>,
  before: { readonly state: State; readonly revision: Revision },
  { events, now }: CommandDecision<Event>,
): Promise<CommandResult<State, Event>> {
  const newEvents = toNewEvents({ id, origin }, events, now)
  const position = await store.append(stream, before.revision, newEvents)
  const state = events.reduce((folded, event) => fold.evolve(folded, event), before.state)
  const revision = revisionAfter(before.revision, events.length)
  stateCache.put(stream, fold, { state, revision, lastEventId: newEvents.at(-1)?.id ?? '', lastEventAt: now })
  return { state, events, revision, position }
}

export const revisionAfter = (revision: Revision, count: number): bigint =>
  (revision === 'none' ? -1n : revision) + BigInt(count)

type StreamCommand<State, Event> = CommandTarget & { readonly id: string; readonly decide: Decide<State, Event> }

/**
 * Handles one command on each of many streams and appends all events in one call. Skips streams whose events this
 * release can't decode.
 * @returns how many streams were appended to; the others needed no events or had them from an earlier attempt
 * @throws whatever `decide` throws, WrongRevision after the last attempt, EventsRemoved, OutcomeUnknown, StoreUnavailable
 */
export const handleEach = <State, Event extends DomainEvent>(
  context: CommandContext,
  commands: readonly StreamCommand<State, Event>[],
  fold: Fold<State, Event>,
): Promise<number> =>
  withRetry({ on: [WrongRevision, OutcomeUnknown], monotonic: context.monotonic }, async (attempt) => {
    const decidedAppends = await Promise.all(
      commands.map((command) => decideStreamAppend(context, command, fold, attempt)),
    )
    const appends = decidedAppends.filter((append) => append !== undefined)
    if (appends.length > 0) await appendAll(context, appends)
    return appends.length
  })

/** Does not read a new stream on the first attempt. */
function decideStreamAppend<State, Event extends DomainEvent>(
  context: CommandContext,
  command: StreamCommand<State, Event>,
  fold: Fold<State, Event>,
  attempt: number,
): Append | undefined | Promise<Append | undefined> {
  if (command.isNew !== true || attempt > 1) return loadAndDecideAppend(context, command, fold)
  return decideAppend(command, { state: fold.initialState, revision: 'none' }, context.clock())
}

async function loadAndDecideAppend<State, Event extends DomainEvent>(
  { store, clock }: CommandContext,
  command: StreamCommand<State, Event>,
  fold: Fold<State, Event>,
): Promise<Append | undefined> {
  try {
    const loaded = await loadStream(store, command.stream, fold, command.id)
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
