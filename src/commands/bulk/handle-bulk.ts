import { randomUUID } from 'node:crypto'
import type { RequestAccepted, RequestDone } from '../../domain/bulk/bulk.ts'
import { diamondIdOfStream, diamondStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { toEventMetadata, type Origin } from '../../events/event-metadata.ts'
import { WrongRevision, type Position, type Revision } from '../../stores/ports/event-store.ts'
import { appendAll, withEventVersion } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'
import { withRetry } from '../core/retry.ts'
import { acceptAndApply, finishBulk, type BulkChanges, type BulkRecord } from './accepted-bulk.ts'
import { readRecord, requestDoneEvent, requireSameBody, type RequestRecord } from './request-record.ts'

/**
 * The command handler for several diamonds: decides on all of them and appends all or nothing, together with a record
 * of the request if `idempotency` is given. A repeated request is answered from its record; a concurrent one waits; one
 * that another process accepted but did not complete is completed first. A rejected request leaves no record. After a
 * conflict with another process the decision is made again.
 * @throws RequestError 'invalid' if the record has a different body; whatever `decide` and `replay` throw;
 *   WrongRevision after the last attempt, OutcomeUnknown, StoreUnavailable
 */
export function handleBulk<Result extends object>(
  context: CommandContext,
  command: BulkCommand<Result>,
): Promise<BulkResult<Result>> {
  const { diamonds = [], idempotency } = command
  const streams = [...(idempotency === undefined ? [] : [idempotency.stream]), ...diamonds.map(diamondStream)]
  const onRetry = (error: unknown) => context.outcomes.countRetry(ANY_DIAMOND, error)
  return context.queue.runAll(streams, () =>
    context.outcomes.track(ANY_DIAMOND, () =>
      withRetry({ on: [WrongRevision], onRetry }, () => attemptBulk(context, command)),
    ),
  )
}

/** Without events nothing is appended. */
export type DiamondDecision = {
  readonly stream: string
  /**
   * The revision that the decision is based on. `lastEventAt` is the time of that event in milliseconds since 1970, or
   * 0.
   */
  readonly expected: Revision
  readonly lastEventAt: number
  readonly events: readonly DiamondEvent[]
}

export type BulkDecision<Result> = { readonly decisions: readonly DiamondDecision[]; readonly result: Result }

export type BulkResult<Result> = Result & { readonly position: Position | undefined }

/** The record shows that the bulk was completed. */
type BulkIdempotency<Result> = RequestRecord & {
  /** Whether to store a record even if there is nothing to append. */
  readonly recordsNoChange?: boolean
  /** Builds the response to a repeated request from the record's diamonds and position. */
  readonly replay: (diamonds: readonly number[], position: Position) => Promise<BulkResult<Result>>
}

type BulkCommand<Result> = {
  readonly origin: Origin
  /** Existing diamonds; other commands of this process on them wait. */
  readonly diamonds?: readonly number[]
  readonly idempotency?: BulkIdempotency<Result>
  /** Loads what it needs, and decides. May run several times. @param now milliseconds since 1970 */
  readonly decide: (now: number) => Promise<BulkDecision<Result>>
}

/** The stream whose category bulk outcomes are counted under. */
const ANY_DIAMOND = diamondStream(0)

async function attemptBulk<Result extends object>(
  context: CommandContext,
  { origin, idempotency, decide }: BulkCommand<Result>,
): Promise<BulkResult<Result>> {
  const { store, stateCache, clock } = context
  const existing = idempotency && (await readExistingRecord(context, idempotency))
  if (idempotency !== undefined && existing?.done !== undefined)
    return idempotency.replay(existing.done.diamonds, existing.done.position)
  const now = clock()
  const { decisions, result } = await decide(now)
  const changes = toChanges(origin, decisions, now)
  for (const { stream, expected } of changes.appends) if (expected !== 'none') stateCache.invalidate(stream)
  const hasChanges = changes.appends.length > 0
  const isRecorded = idempotency !== undefined && (hasChanges || idempotency.recordsNoChange === true)
  if (!hasChanges && !isRecorded) return { ...result, position: undefined }
  const record = isRecorded ? { ...idempotency, expected: existing?.revision ?? ('none' as const) } : undefined
  const isOneAppend = changes.appends.length + (record === undefined ? 0 : 1) === 1
  const write = store.isAppendManyAtomic || isOneAppend ? appendAtOnce : acceptAndApply
  return { ...result, position: await write(context, changes, record) }
}

function toChanges(origin: Origin, decisions: readonly DiamondDecision[], now: number): BulkChanges {
  const decided = decisions.filter(({ events }) => events.length > 0)
  const at = decided.reduce((latest, { lastEventAt }) => Math.max(latest, lastEventAt), now)
  const metadata = toEventMetadata(origin, at)
  const toNewEvent = ({ type, data }: DiamondEvent) => ({
    id: randomUUID(),
    type,
    data,
    metadata: withEventVersion(metadata, type),
  })
  return {
    diamonds: decided.map(({ stream }) => diamondIdOfStream(stream)),
    appends: decided.map(({ stream, expected, events }) => ({ stream, expected, events: events.map(toNewEvent) })),
    metadata,
  }
}

/**
 * Appends all of the changes and the record, or nothing.
 * @throws WrongRevision of a changed stream or of the record, OutcomeUnknown, StoreUnavailable
 */
function appendAtOnce(
  context: CommandContext,
  { appends, diamonds, metadata }: BulkChanges,
  record: BulkRecord | undefined,
): Promise<Position | undefined> {
  if (record === undefined) return appendAll(context, appends)
  const { stream, expected, body } = record
  // A random id: another process's attempt at the same request must not be taken for a repeat of this one.
  const done = requestDoneEvent({ body, diamonds }, randomUUID(), metadata)
  return appendAll(context, [...appends, { stream, expected, events: [done] }])
}

type ExistingRecord = {
  readonly revision: Revision
  readonly done?: { readonly diamonds: readonly number[]; readonly position: Position }
}

/** @throws RequestError 'invalid' if the record has a different body */
async function readExistingRecord(context: CommandContext, record: RequestRecord): Promise<ExistingRecord> {
  const { revision, existing } = await readRecord(context, record)
  if (existing?.type === 'RequestDone') {
    const { diamonds } = requireSameBody(decode<RequestDone>(existing), record.body)
    return { revision, done: { diamonds, position: existing.position } }
  }
  if (existing !== undefined) {
    requireSameBody(decode<RequestAccepted>(existing), record.body)
    if ((await finishBulk(context, record.stream)) !== undefined) return readExistingRecord(context, record)
  }
  return { revision }
}
