import { randomUUID } from 'node:crypto'
import type { DomainEvent, Fold } from '../../domain/fold.ts'
import { emptyStream, loadStream, type LoadedStream } from '../../events/load-stream.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { OutcomeUnknown, WrongRevision, type Position, type Revision } from '../../stores/ports/event-store.ts'
import { revisionAfter, toNewEvents } from './append.ts'
import type { CommandContext } from './command-context.ts'
import { withRetry } from './retry.ts'

/**
 * The command handler: loads a stream, decides on its state, and appends the events at the expected revision. It
 * retries after a conflict with another writer and after an append with unknown outcome (see retry.ts). A command that
 * was already stored by an earlier attempt succeeds with that attempt's events.
 * @throws whatever `decide` throws, WrongRevision after the last attempt, EventsRemoved, OutcomeUnknown, StoreUnavailable
 */
export function handle<State, Event extends DomainEvent>(
  context: CommandContext,
  target: CommandTarget,
  fold: Fold<State, Event>,
  decide: Decide<State, Event>,
): Promise<CommandResult<State, Event>> {
  const command = { target, id: target.id ?? randomUUID(), fold, decide }
  return inTurn(context, target.stream, async (attempt) => {
    const optimistic = attempt === 1 ? decideWithoutReading(context, command) : undefined
    if (optimistic !== undefined) return append(context, command, optimistic)
    const loaded = await load(context, command)
    const { state, commandEvents, revision, position } = loaded
    if (commandEvents.length > 0) return { state, events: commandEvents, revision, position }
    const decision = decideOn(loaded, decide, context.clock())
    if (decision.events.length === 0) return { state, events: [], revision, position: undefined }
    return append(context, command, decision)
  })
}

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

/** `id` is random unless the target has one. */
type Command<State, Event extends DomainEvent> = {
  readonly target: CommandTarget
  readonly id: string
  readonly fold: Fold<State, Event>
  readonly decide: Decide<State, Event>
}

/** Runs the attempts of a command after those of earlier commands on the stream. Counts its outcome. */
function inTurn<Result>(
  { queue, outcomes, monotonic }: CommandContext,
  stream: string,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  const onRetry = (error: unknown) => outcomes.countRetry(stream, error)
  const attempts = () => withRetry({ on: [WrongRevision, OutcomeUnknown], onRetry, monotonic }, attempt)
  return queue.run(stream, () => outcomes.track(stream, attempts))
}

/**
 * Decides on the state of a new stream, or on the cached one, which may be outdated: the append at its revision fails
 * then.
 * @returns undefined if no state is known, or if it leads to no events or an error
 */
function decideWithoutReading<State, Event extends DomainEvent>(
  { stateCache, clock }: CommandContext,
  { target, fold, decide }: Command<State, Event>,
): Decision<State, Event> | undefined {
  const cached = target.id === undefined ? stateCache.find(target.stream, fold) : undefined
  const known = target.isNew === true ? emptyStream(fold) : cached
  if (known === undefined) return undefined
  try {
    const decision = decideOn(known, decide, clock())
    return decision.events.length > 0 ? decision : undefined
  } catch {
    return undefined // If the error is real, the decision on the state that is read throws it again.
  }
}

type KnownState<State> = Pick<LoadedStream<State, unknown>, 'state' | 'revision' | 'lastEventAt'>

type Decision<State, Event> = {
  readonly before: KnownState<State>
  readonly events: readonly Event[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** @param clockTime milliseconds since 1970 */
export function decideOn<State, Event>(
  before: KnownState<State>,
  decide: Decide<State, Event>,
  clockTime: number,
): Decision<State, Event> {
  const now = Math.max(clockTime, before.lastEventAt)
  return { before, events: decide(before.state, now, before.revision), now }
}

/** Reads the whole stream if the caller gave the command's id, since the stream may contain its events. */
function load<State, Event extends DomainEvent>(
  { store, stateCache }: CommandContext,
  { target, id, fold }: Command<State, Event>,
): Promise<LoadedStream<State, Event>> {
  const { stream } = target
  return target.id === undefined ? stateCache.load(store, stream, fold, id) : loadStream(store, stream, fold, id)
}

async function append<State, Event extends DomainEvent>(
  { store, stateCache }: CommandContext,
  { target, id, fold }: Command<State, Event>,
  { before, events, now }: Decision<State, Event>,
): Promise<CommandResult<State, Event>> {
  const { stream, origin } = target
  const newEvents = toNewEvents({ id, origin }, events, now)
  const position = await store.append(stream, before.revision, newEvents)
  const state = events.reduce((folded, event) => fold.evolve(folded, event), before.state)
  const revision = revisionAfter(before.revision, events.length)
  stateCache.put(stream, fold, { state, revision, lastEventId: newEvents.at(-1)?.id ?? '', lastEventAt: now })
  return { state, events, revision, position }
}
