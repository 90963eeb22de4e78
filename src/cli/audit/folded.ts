import { decode, isUndecodable } from '../../events/decode.ts'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import { timeOf } from '../../events/origin.ts'
import { changesBetween, forOperators, shownTime, type Entry, type State } from '../../projections/history/entry.ts'
import type { Who } from '../../projections/history/who.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Past } from './subject.ts'

/** How the events of one kind of thing are told. `evolve` is given events of other kinds too, where a thing has several streams. */
export type Telling<Folded, Event extends DomainEvent> = Decider<Folded, Event> & {
  /** What people are shown of it: its members in their order, in titles; nothing that lets anybody in. */
  readonly shown: (state: Folded) => State
  /** What each type of event is called. */
  readonly words: Readonly<Record<string, string>>
  /** What no member shows. */
  readonly detail?: (event: Event, stored: StoredEvent) => string | Promise<string>
}

/** An event, and what it made of the thing. */
export type Step<Folded, Event> = {
  readonly stored: StoredEvent
  readonly before: Folded
  readonly after: Folded
  /** Why it can't be understood: it left the thing as it was. */
  readonly undecoded: string | undefined
  readonly event: Event | undefined
}

/** Folds a thing event by event. One that can't be understood is left out of the state, and keeps its place. */
export function foldedSteps<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  { initialState, evolve }: Decider<Folded, Event>,
): Step<Folded, Event>[] {
  let after = initialState
  return events.map((stored) => {
    const before = after
    const { event, undecoded } = understood<Event>(stored)
    if (event !== undefined) after = evolve(before, event)
    return { stored, before, after, event, undecoded }
  })
}

function understood<Event extends DomainEvent>(stored: StoredEvent) {
  try {
    return { event: decode<Event>(stored), undecoded: undefined }
  } catch (error) {
    if (!isUndecodable(error)) throw error
    return { event: undefined, undecoded: error.message }
  }
}

/** An event as an entry of a history. */
export async function entryOf<Folded, Event extends DomainEvent>(
  { stored, before, after, event, undecoded }: Step<Folded, Event>,
  { shown, words, detail }: Pick<Telling<Folded, Event>, 'shown' | 'words' | 'detail'>,
  who: Who,
): Promise<Entry> {
  const { stream, revision, type, metadata } = stored
  const { $correlationId: request = '' } = metadata
  const said = event === undefined ? '' : ((await detail?.(event, stored)) ?? '')
  return {
    stream,
    revision: Number(revision),
    at: shownTime(stored),
    type: event === undefined ? type : (words[type] ?? type),
    by: await who.of(stored),
    request,
    changes: event === undefined ? [] : changesBetween(shown(before), shown(after)),
    ...(said !== '' && { detail: said }),
    ...forOperators(stored),
    ...(undecoded !== undefined && { undecoded }),
  }
}

/** The past of a thing whose events are all told. */
export function foldedPast<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  telling: Telling<Folded, Event>,
  who: Who,
): Past {
  const steps = foldedSteps(events, telling)
  return {
    entries: () => Promise.all(steps.map((step) => entryOf(step, telling, who))),
    stateAt: stateAt(steps, telling),
  }
}

/** The state at a time, in milliseconds since 1970, included. */
export const stateAt =
  <Folded, Event extends DomainEvent>(
    steps: readonly Step<Folded, Event>[],
    { initialState, shown }: Pick<Telling<Folded, Event>, 'initialState' | 'shown'>,
  ) =>
  (until: number): State =>
    shown(steps.findLast(({ stored }) => timeOf(stored) <= until)?.after ?? initialState)
