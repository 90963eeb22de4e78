import type { DomainEvent, Fold } from '../../domain/fold.ts'
import { isDecodeError } from '../../events/decode.ts'
import { emptyStream, loadStream, type LoadedStream } from '../../events/load-stream.ts'
import { OutcomeUnknown, WrongRevision, type Append, type EventStore } from '../../stores/ports/event-store.ts'
import { appendAll, toNewEvents } from './append.ts'
import type { CommandContext } from './command-context.ts'
import { decideOn, type CommandTarget, type Decide } from './handle.ts'
import { withRetry } from './retry.ts'

type StreamCommand<State, Event> = CommandTarget & { readonly id: string; readonly decide: Decide<State, Event> }

/**
 * Handles one command on each of many streams and appends all events in one call. Skips streams whose events this
 * release can't decode.
 * @param isRepeat whether an earlier call with the same commands may have appended some of the events
 * @returns how many streams were appended to, by this call or the one that it repeats; the others needed no events
 * @throws whatever `decide` throws, WrongRevision after the last attempt, EventsRemoved, OutcomeUnknown, StoreUnavailable
 */
export const handleEach = <State, Event extends DomainEvent>(
  context: CommandContext,
  commands: readonly StreamCommand<State, Event>[],
  fold: Fold<State, Event>,
  isRepeat = false,
): Promise<number> =>
  withRetry({ on: [WrongRevision, OutcomeUnknown], monotonic: context.monotonic }, async (attempt) => {
    const decided = await Promise.all(commands.map((command) => decideAppend(context, command, fold, attempt)))
    const appends = decided.filter((one) => typeof one === 'object')
    if (appends.length > 0) await appendAll(context, appends)
    const earlier = isRepeat || attempt > 1 ? decided.filter((one) => one === 'appended before').length : 0
    return appends.length + earlier
  })

/** A new stream is not read on the first attempt. */
async function decideAppend<State, Event extends DomainEvent>(
  { store, clock }: CommandContext,
  { stream, id, origin, isNew, decide }: StreamCommand<State, Event>,
  fold: Fold<State, Event>,
  attempt: number,
): Promise<Append | 'appended before' | undefined> {
  const isKnownEmpty = isNew === true && attempt === 1
  const loaded = isKnownEmpty ? emptyStream(fold) : await loadIfDecodable(store, stream, fold, id)
  if (loaded === undefined) return undefined
  if (loaded.commandEvents.length > 0) return 'appended before'
  const { events, now } = decideOn(loaded, decide, clock())
  if (events.length === 0) return undefined
  return { stream, expected: loaded.revision, events: toNewEvents({ id, origin }, events, now) }
}

async function loadIfDecodable<State, Event extends DomainEvent>(
  store: EventStore,
  stream: string,
  fold: Fold<State, Event>,
  commandId: string,
): Promise<LoadedStream<State, Event> | undefined> {
  try {
    return await loadStream(store, stream, fold, commandId)
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
