import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIRST_EPOCH } from '../../domain/installation/installation.ts'
import { RequestError } from '../../domain/request-error.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { diamondJson } from '../../representations/diamond/diamond-json.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import { READ_MODEL_WAIT_MS, type ProjectionProgress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReadPolicy } from '../engine/stale-reads.ts'
import { eventsUpTo, readSequences, type AccountSequence } from '../engine/account-sequence.ts'
import type { ChangeNotifier } from './change-notifier.ts'
import { fromDocument, STATE_FIELDS } from './diamond-document.ts'
import { CHANGE_NUMBERS, isDeleted, parseChangeNumbers, type ChangeNumbers } from './diamond-record.ts'

/**
 * A cursor in an account's change feed: `EPOCH-NUMBER`, the log's epoch when it was issued and the number of events of
 * the account's diamonds up to it.
 */
type Cursor = { readonly epoch: number; readonly number: number }

/** At most 15 digits, which a number represents exactly. */
const CURSOR_PATTERN = /^(\d{1,15})-(\d{1,15})$/

const formatCursor = ({ epoch, number }: Cursor): string => `${epoch}-${number}`

/** @throws RequestError `malformed` */
export function parseCursor(text: string): Cursor {
  const [, epoch, number] = CURSOR_PATTERN.exec(text) ?? []
  if (epoch !== undefined && number !== undefined) return { epoch: Number(epoch), number: Number(number) }
  const message = `after must be a cursor from this feed, such as 0-17, or now; got ${text.slice(0, 40)}`
  throw new RequestError('malformed', [{ pointer: 'after', message, code: 'format' }])
}

/** The changes up to a cursor were lost when the log was restored from a backup. */
export class CursorLost extends RequestError {
  /** @param restart the latest cursor that the lost and the restored history have in common */
  constructor(
    cursor: Cursor,
    readonly restart: string,
  ) {
    super(
      'gone',
      `The changes up to ${formatCursor(cursor)} were lost when the service was restored from a backup: ` +
        `continue from ${restart}, and delete diamonds that the list of diamonds does not have`,
    )
  }
}

/** A cursor after the latest change. */
const unknownCursor = (cursor: Cursor): RequestError =>
  new RequestError('malformed', [
    {
      pointer: 'after',
      message: `${formatCursor(cursor)} is not a cursor of this feed: it is ahead of the latest change`,
      code: 'range',
    },
  ])

export const CHANGE_KINDS = ['created', 'fields', 'certifications', 'scores', 'deleted'] as const
type ChangeKind = (typeof CHANGE_KINDS)[number]

/** A changed diamond; `text` is its entry in the feed, as JSON. */
export type FeedChange = {
  readonly cursor: string
  readonly diamond: number
  readonly what: readonly ChangeKind[]
  readonly text: string
}

export type ChangePage = {
  readonly changes: readonly FeedChange[]
  readonly next: string
  /** Whether the next page has changes now. */
  readonly more: boolean
  /** False if the read model lags: the latest changes follow later. */
  readonly isCurrent: boolean
  /** Seconds since the event log's last response, while it is unavailable. */
  readonly ageSeconds?: number
}

export type ChangeFeedOptions = {
  readonly model: ReadModel
  readonly progress: ProjectionProgress
  readonly store: Pick<EventStore, 'head' | 'eventAt'>
  readonly watch: Pick<ChangeNotifier, 'waitForChanges' | 'isStopped'>
  readonly stale?: StaleReadPolicy
  /** Milliseconds that a page waits for the read model to reach the head. */
  readonly waitMs?: number
  /**
   * Include the deletion of every diamond, even of one created after the cursor. A webhook's receiver may have received
   * a diamond's creation without a record of it, if its response was lost.
   */
  readonly includeAllDeletions?: true
}

/** Maximum number of queries for one page: more than one is needed if documents are left out of it. */
const MAX_QUERIES_PER_PAGE = 10

/**
 * The changes in an account's inventory since a cursor: each diamond once, ordered by its last change. A page ends at
 * the read model's checkpoint, so that no change is inserted before it later; a diamond that changes again moves to the
 * end.
 */
export class ChangeFeed {
  constructor(
    private readonly options: ChangeFeedOptions,
    private readonly links: LinkBuilder,
  ) {}

  /** The cursor of the latest change. @throws StoreUnavailable */
  async currentCursor(account: number): Promise<string> {
    return currentCursorOf(await this.#currentState(account))
  }

  /**
   * The cursor of the latest change, and its time in milliseconds since 1970; 0 if there is none.
   * @throws StoreUnavailable
   */
  async latestChange(account: number): Promise<{ readonly cursor: string; readonly at: number }> {
    const state = await this.#currentState(account)
    const { position } = state
    const event = position === 'start' ? undefined : await this.options.store.eventAt(position)
    return { cursor: currentCursorOf(state), at: eventTimeOf(event) }
  }

  async #currentState(account: number): Promise<FeedState> {
    await this.#freshness()
    return this.#readState(account)
  }

  /**
   * The changes after a cursor.
   * @param after undefined for the start of the feed
   * @param limit maximum number of changes on a page
   * @throws RequestError `malformed`, CursorLost, StoreUnavailable
   */
  async after(version: ApiVersion, account: number, after: string | undefined, limit: number): Promise<ChangePage> {
    const cursor = after === undefined ? undefined : parseCursor(after)
    const freshness = await this.#freshness()
    const state = await this.#readState(account)
    const from = cursor === undefined ? 0 : resolveCursor(cursor, state, freshness.isCurrent)
    if (from === undefined) return { changes: [], next: after ?? '', more: false, ...freshness }
    return { ...(await this.#page(version, account, { from, limit, state })), ...freshness }
  }

  /** Resolves when there may be changes after a cursor, after `ms` milliseconds, or when aborted. */
  async waitForChanges(account: number, cursor: string, ms: number, signal: AbortSignal): Promise<void> {
    await this.options.watch.waitForChanges(account, parseCursor(cursor).number, ms, signal)
  }

  get isStopped(): boolean {
    return this.options.watch.isStopped
  }

  /** Waits for the read model, so that clients read their own writes. */
  async #freshness(): Promise<{ readonly isCurrent: boolean; readonly ageSeconds?: number }> {
    const { store, progress, stale = NO_STALE_READS, waitMs = READ_MODEL_WAIT_MS } = this.options
    let head: PositionOrStart
    try {
      head = await store.head()
    } catch (error) {
      return { isCurrent: false, ageSeconds: await stale.ageSecondsOrThrow(error) }
    }
    return { isCurrent: await progress.waitForPosition(head, waitMs) }
  }

  /** Reads the checkpoint before the sequences: beyond it they may be incomplete. */
  async #readState(account: number): Promise<FeedState> {
    return readFeedState(this.options.model, await this.options.model.position(), account)
  }

  async #page(
    version: ApiVersion,
    account: number,
    { from, limit, state }: FeedPageRequest,
  ): Promise<ChangePageContent> {
    const { epoch, settledCount } = state
    const changes: FeedChange[] = []
    let lastNumber = from
    for (let queryCount = 0; queryCount < MAX_QUERIES_PER_PAGE && lastNumber < settledCount; queryCount++) {
      const remaining = limit - changes.length
      const documents = await this.#find(account, { after: lastNumber, to: settledCount, limit: remaining + 1 })
      for (const document of documents.slice(0, remaining)) {
        const change = this.#change(version, document, { epoch, since: from })
        lastNumber = Number(document['changed'])
        if (change !== undefined) changes.push(change)
      }
      if (documents.length <= remaining) lastNumber = settledCount
      if (changes.length === limit) break
    }
    return { changes, next: formatCursor({ epoch, number: lastNumber }), more: lastNumber < settledCount }
  }

  #find(account: number, { after, to, limit }: { after: number; to: number; limit: number }) {
    return this.options.model.find({
      where: { account, changed: { from: after + 1, to } },
      order: [['changed', 'asc']],
      limit,
      offset: 0,
      select: SELECTED_FIELDS,
    })
  }

  #change(version: ApiVersion, document: Document, { epoch, since }: { epoch: number; since: number }) {
    const numbers = parseChangeNumbers(document)
    const wasDeleted = isDeleted(document)
    // The client never saw the diamond, so it need not know of its deletion.
    if (wasDeleted && numbers.created > since && this.options.includeAllDeletions !== true) return undefined
    const what = wasDeleted ? (['deleted'] as const) : changeKindsOf(numbers, since)
    const cursor = formatCursor({ epoch, number: numbers.changed })
    const body = wasDeleted ? 'null' : diamondJson(version, fromDocument(document), this.links)
    const { id, sku } = document
    const entryText = JSON.stringify({ cursor, id, sku, what })
    return { cursor, diamond: Number(id), what, text: `${entryText.slice(0, -1)},"diamond":${body}}` }
  }
}

type ChangePageContent = Pick<ChangePage, 'changes' | 'next' | 'more'>
type FeedPageRequest = { readonly from: number; readonly limit: number; readonly state: FeedState }

type FeedState = {
  /** The log's current epoch according to the model, and all epochs in order. */
  readonly epoch: number
  readonly epochs: readonly number[]
  readonly sequence: AccountSequence
  /** All changes up to this number are in the model; later ones come after them. */
  readonly settledCount: number
  /** Of the last of these changes. */
  readonly position: PositionOrStart
}

const currentCursorOf = ({ epoch, settledCount }: FeedState): string => formatCursor({ epoch, number: settledCount })

/** @throws StoreUnavailable if the model belongs to another log */
async function readFeedState(model: ReadModel, position: PositionOrStart, account: number): Promise<FeedState> {
  const sequences = await readSequences(model, [account])
  const epochs = sequences.epochs
    .filter(({ position: at }) => comparePositions(at, position) <= 0)
    .map(({ epoch }) => epoch)
  const sequence = sequences.sequenceOf(account)
  const settled = eventsUpTo(sequence, position)
  return { epoch: epochs.at(-1) ?? FIRST_EPOCH, epochs, sequence, settledCount: settled.count, position: settled.last }
}

/**
 * The number of a cursor in the current log; undefined if the model has not reached it.
 * @param isCurrent whether the model has reached the head of the log
 * @throws CursorLost, RequestError `malformed`
 */
function resolveCursor(cursor: Cursor, state: FeedState, isCurrent: boolean): number | undefined {
  const { epoch, settledCount } = state
  if (cursor.epoch < epoch) {
    const commonLength = commonHistoryLength(cursor, state)
    if (cursor.number <= commonLength) return cursor.number
    throw new CursorLost(cursor, formatCursor({ epoch, number: commonLength }))
  }
  if (cursor.epoch === epoch && cursor.number <= settledCount) return cursor.number
  if (!isCurrent) return undefined
  throw unknownCursor(cursor)
}

/**
 * The number of events that an earlier epoch's cursor has in common with the current log: those before the next epoch
 * began. 0 for an epoch that was itself lost, since its branching point is unknown.
 */
function commonHistoryLength({ epoch }: Cursor, { epochs, sequence, settledCount }: FeedState): number {
  const index = epochs.indexOf(epoch)
  if (epoch !== FIRST_EPOCH && index < 0) return 0
  const nextEpoch = epochs[index + 1]
  const laterEpoch = sequence.epochs.find(([sequenceEpoch]) => nextEpoch !== undefined && sequenceEpoch >= nextEpoch)
  return Math.min(laterEpoch?.[1] ?? settledCount, settledCount)
}

const KIND_NUMBER_FIELDS = [
  ['created', 'created'],
  ['fields', 'fieldsChanged'],
  ['certifications', 'certificationsChanged'],
  ['scores', 'scoresChanged'],
] as const satisfies readonly (readonly [ChangeKind, keyof ChangeNumbers])[]

const changeKindsOf = (numbers: ChangeNumbers, since: number): ChangeKind[] =>
  KIND_NUMBER_FIELDS.flatMap(([kind, field]) => (numbers[field] > since ? [kind] : []))

const SELECTED_FIELDS = [...STATE_FIELDS, 'id', 'sku', ...CHANGE_NUMBERS]
