import type { Decider, DomainEvent } from '../../domain/decider.ts'
import { isUndecodable } from '../../events/decode.ts'
import { OutcomeUnknown, WrongRevision, type Append } from '../../stores/ports/event-store.ts'
import { appendAll, toAppend } from './append.ts'
import type { Decide, Wish, Writing } from './handle.ts'
import { load } from '../../events/load.ts'
import { retrying } from './retry.ts'

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
