import { randomUUID } from 'node:crypto'
import type { RequestAccepted, RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondIn, diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { metadata, type Origin } from '../../events/origin.ts'
import { WrongRevision, type Append, type Position, type Revision } from '../../stores/ports/event-store.ts'
import type { Writing } from '../core/handle.ts'
import { retrying } from '../core/retry.ts'
import { stamp } from '../core/stamp.ts'
import { finishBulk, writeTogether } from './carry-out.ts'
import { readRecord, sameBody, type RequestRecord } from './request.ts'

/** What was decided on one of several diamonds; nothing is written for one without events. */
export type DiamondDecision = {
  readonly stream: string
  /** The revision that it was decided on, and the time of that event in milliseconds since 1970; 0 without one. */
  readonly expected: Revision
  readonly at: number
  readonly events: readonly DiamondEvent[]
}

/** What is decided on all of them, and what the caller is told of it. */
export type DecidedAll<Told> = { readonly decisions: readonly DiamondDecision[]; readonly told: Told }

export type Answered<Told> = Told & { readonly position: Position | undefined }

/** Says that a request was carried out, and keeps it from being carried out twice. */
export type Once<Told> = RequestRecord & {
  /** Whether there is a record where nothing had to be written. */
  readonly ofNothing?: boolean
  /** The answer to a repeat, by the diamonds of the record and where that stands. */
  readonly again: (diamonds: readonly number[], position: Position) => Promise<Answered<Told>>
}

export type WishOnAll<Told> = {
  readonly origin: Origin
  /** Diamonds that exist: other commands of this process on them wait. */
  readonly diamonds?: readonly number[]
  readonly once?: Once<Told>
  /** Loads what it needs, and decides; may run several times. @param now milliseconds since 1970 */
  readonly decide: (now: number) => Promise<DecidedAll<Told>>
}

/**
 * Decides on several diamonds and writes all of it or nothing, with a record of it where the wish has one: a repeat finds
 * the record, one that comes meanwhile waits for it, and what another process began and did not end is finished first. What
 * is refused leaves no record. Where another process was first, it is decided again.
 * @throws Refusal invalid where the record is of another body; what `decide` and `again` throw; WrongRevision after the last
 *   try, OutcomeUnknown, StoreUnavailable
 */
export function handleAll<Told extends object>(writing: Writing, wish: WishOnAll<Told>): Promise<Answered<Told>> {
  const { diamonds = [], once } = wish
  const streams = [...(once === undefined ? [] : [once.stream]), ...diamonds.map(diamondStream)]
  const failed = (error: unknown) => writing.outcomes.retried(ANY_DIAMOND, error)
  return writing.queue.runAll(streams, () =>
    writing.outcomes.of(ANY_DIAMOND, () => retrying({ on: [WrongRevision], failed }, () => tried(writing, wish))),
  )
}

/** What outcomes are counted under. */
const ANY_DIAMOND = diamondStream(0)

async function tried<Told extends object>(
  writing: Writing,
  { origin, once, decide }: WishOnAll<Told>,
): Promise<Answered<Told>> {
  const { states, clock } = writing
  const before = once && (await recordBefore(writing, once))
  if (once !== undefined && before?.done !== undefined) return once.again(before.done.diamonds, before.done.position)
  const now = clock()
  const { decisions, told } = await decide(now)
  const decided = decisions.filter(({ events }) => events.length > 0)
  const at = decided.reduce((latest, one) => Math.max(latest, one.at), now)
  const stamped = stamp(origin, at)
  const appends = decided.map(({ stream, expected, events }): Append => {
    if (expected !== 'none') states.forget(stream)
    return { stream, expected, events: events.map((event) => stamped(randomUUID(), event)) }
  })
  const isRecorded = once !== undefined && (appends.length > 0 || once.ofNothing === true)
  if (appends.length === 0 && !isRecorded) return { ...told, position: undefined }
  const record = isRecorded ? { ...once, expected: before?.revision ?? ('none' as const) } : undefined
  const diamonds = decided.map(({ stream }) => diamondIn(stream))
  return {
    ...told,
    position: await writeTogether(writing, { diamonds, appends, metadata: metadata(origin, at) }, record),
  }
}

type RecordBefore = {
  readonly revision: Revision
  readonly done?: { readonly diamonds: readonly number[]; readonly position: Position }
}

/** What is on record of the wish. @throws Refusal invalid for another body */
async function recordBefore(writing: Writing, once: RequestRecord): Promise<RecordBefore> {
  const { revision, kept } = await readRecord(writing, once)
  if (kept?.type === 'RequestDone') {
    const { diamonds } = sameBody(decode<RequestDone>(kept), once.body)
    return { revision, done: { diamonds, position: kept.position } }
  }
  if (kept !== undefined) {
    sameBody(decode<RequestAccepted>(kept), once.body)
    if ((await finishBulk(writing, once.stream)) !== undefined) return recordBefore(writing, once)
  }
  return { revision }
}
