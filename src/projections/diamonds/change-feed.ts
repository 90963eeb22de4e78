import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIRST_EPOCH } from '../../domain/installation/installation.ts'
import { RequestError } from '../../domain/decider.ts'
import { diamondJson } from '../../representations/diamond/diamond-json.ts'
import type { LinkBuilder } from '../../representations/json.ts'
import { comparePositions, type EventStore, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import { READ_MODEL_WAIT_MS, type ProjectionProgress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReadPolicy } from '../engine/stale-reads.ts'
import { eventCountAt, readSequences, type AccountSequence } from '../engine/account-sequence.ts'
import type { ChangeNotifier } from './change-notifier.ts'
import { fromDocument, STATE_FIELDS } from './diamond-document.ts'
import { CHANGE_NUMBERS, isDeleted, numbersIn, type ChangeNumbers } from './diamond-record.ts'

/**
 * A place in the feed of an account: `EPOCH-NUMBER`, the log's epoch in which it was given and how many events of the
 * account's diamonds had come by then.
 */
export type Cursor = { readonly epoch: number; readonly number: number }

/** Digits of a number that can be told from its neighbours. */
const CURSOR_PATTERN = /^(\d{1,15})-(\d{1,15})$/

const formatCursor = ({ epoch, number }: Cursor): string => `${epoch}-${number}`

/** @param name of what it came in, for who is told that it is malformed @throws Refusal malformed */
export function parseCursor(text: string, name = 'after'): Cursor {
  const [, epoch, number] = CURSOR_PATTERN.exec(text) ?? []
  if (epoch !== undefined && number !== undefined) return { epoch: Number(epoch), number: Number(number) }
  const message = `${name} must be a cursor that the feed gave, such as 0-17, or now; got ${text.slice(0, 40)}`
  throw new RequestError('malformed', [{ pointer: name, message }])
}

/** What a cursor names was lost when the log was restored from a backup. */
export class CursorLost extends RequestError {
  /** @param restart the last place that both pasts have */
  constructor(
    cursor: Cursor,
    readonly restart: string,
  ) {
    super(
      'gone',
      `What led to ${formatCursor(cursor)} was lost when the service was restored from a backup: go on from ${restart}, ` +
        'and drop what the list of diamonds does not have',
    )
  }
}

/** A cursor further on than anything that has happened. */
const unknownCursor = (cursor: Cursor): RequestError =>
  new RequestError('malformed', [
    { pointer: 'after', message: `${formatCursor(cursor)} is no cursor of this feed: it has not come so far` },
  ])

/** What may have happened to a diamond. */
export const CHANGE_KINDS = ['created', 'fields', 'certifications', 'scores', 'deleted'] as const
type ChangeKind = (typeof CHANGE_KINDS)[number]

/** One diamond that is not as it was: `text` is what the feed shows of it, finished JSON. */
export type FeedChange = {
  readonly cursor: string
  readonly diamond: number
  readonly what: readonly ChangeKind[]
  readonly text: string
}

export type ChangePage = {
  readonly changes: readonly FeedChange[]
  /** Where the next page begins. */
  readonly next: string
  /** Whether that has something now. */
  readonly more: boolean
  /** False when the read model is behind: what was written last follows later. */
  readonly isCurrent: boolean
  /** Seconds since the log last answered, where it is away. */
  readonly ageSeconds?: number
}

export type ChangeFeedOptions = {
  readonly model: ReadModel
  readonly progress: ProjectionProgress
  readonly store: Pick<EventStore, 'head'>
  readonly watch: Pick<ChangeNotifier, 'waitForChanges' | 'isStopped'>
  readonly stale?: StaleReadPolicy
  /** Milliseconds that a page waits for what was written before it was asked for. */
  readonly waitMs?: number
  /**
   * Tells the end of every diamond, also of one that came since: who is pushed to may have taken what nobody has on record,
   * since its answer was lost.
   */
  readonly includeAllDeletions?: true
}

/** Rounds in which a page looks for more behind what it leaves out. */
const MAX_QUERIES_PER_PAGE = 10

/**
 * What has changed in an account's inventory since somebody looked: each diamond once, in the order of their last changes.
 * A page ends where the read model's checkpoint is, so that nothing comes in before it later; what changes meanwhile moves
 * behind it.
 */
export class ChangeFeed {
  constructor(
    private readonly options: ChangeFeedOptions,
    private readonly links: LinkBuilder,
  ) {}

  /** The cursor behind which nothing has happened yet. @throws StoreUnavailable */
  async currentCursor(account: number): Promise<string> {
    const { ageSeconds: _age } = await this.#freshness()
    const { epoch, settledCount } = await this.#readState(account)
    return formatCursor({ epoch, number: settledCount })
  }

  /**
   * What has changed since a cursor.
   * @param after as it was given; undefined for the beginning
   * @param limit changes on a page at most
   * @throws Refusal malformed, CursorLost, StoreUnavailable
   */
  async after(version: ApiVersion, account: number, after: string | undefined, limit: number): Promise<ChangePage> {
    const asked = after === undefined ? undefined : parseCursor(after)
    const fresh = await this.#freshness()
    const standing = await this.#readState(account)
    const from = asked === undefined ? 0 : resolveCursor(asked, standing, fresh.isCurrent)
    if (from === undefined) return { changes: [], next: after ?? '', more: false, ...fresh }
    return { ...(await this.#page(version, account, { from, limit, state: standing })), ...fresh }
  }

  /** Resolves when something may have come behind a cursor, after so many milliseconds, or when that is given up. */
  async waitForChanges(account: number, cursor: string, ms: number, signal: AbortSignal): Promise<void> {
    await this.options.watch.waitForChanges(account, parseCursor(cursor).number, ms, signal)
  }

  /** True when the service stops: there is nothing to wait for. */
  get isStopped(): boolean {
    return this.options.watch.isStopped
  }

  /** Waits a little, so that who has written sees what he wrote. */
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

  /** The checkpoint is read before the sequences: what they have behind it is not all written. */
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
    let reached = from
    for (let round = 0; round < MAX_QUERIES_PER_PAGE && reached < settledCount; round++) {
      const room = limit - changes.length
      const found = await this.#find(account, { after: reached, to: settledCount, limit: room + 1 })
      for (const document of found.slice(0, room)) {
        const change = this.#change(version, document, { epoch, since: from })
        reached = Number(document['changed'])
        if (change !== undefined) changes.push(change)
      }
      if (found.length <= room) reached = settledCount
      if (changes.length === limit) break
    }
    return { changes, next: formatCursor({ epoch, number: reached }), more: reached < settledCount }
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
    const numbers = numbersIn(document)
    const gone = isDeleted(document)
    // Who never heard of it need not hear of its end.
    if (gone && numbers.created > since && this.options.includeAllDeletions !== true) return undefined
    const what = gone ? (['deleted'] as const) : changeKindsOf(numbers, since)
    const cursor = formatCursor({ epoch, number: numbers.changed })
    const body = gone ? 'null' : diamondJson(version, fromDocument(document), this.links)
    const { id, sku } = document
    const head = JSON.stringify({ cursor, id, sku, what })
    return { cursor, diamond: Number(id), what, text: `${head.slice(0, -1)},"diamond":${body}}` }
  }
}

type ChangePageContent = Pick<ChangePage, 'changes' | 'next' | 'more'>
type FeedPageRequest = { readonly from: number; readonly limit: number; readonly state: FeedState }

/** Where an account's feed stands. */
type FeedState = {
  /** Of the log as the model has it, and the ones before, in their order. */
  readonly epoch: number
  readonly epochs: readonly number[]
  readonly sequence: AccountSequence
  /** All changes up to this number are in the model, and stay behind whatever comes. */
  readonly settledCount: number
}

/** @throws StoreUnavailable where the model is of another log */
async function readFeedState(model: ReadModel, position: PositionOrStart, account: number): Promise<FeedState> {
  const sequences = await readSequences(model, [account])
  const epochs = sequences.epochs
    .filter(({ position: at }) => comparePositions(at, position) <= 0)
    .map(({ epoch }) => epoch)
  const sequence = sequences.sequenceOf(account)
  return { epoch: epochs.at(-1) ?? FIRST_EPOCH, epochs, sequence, settledCount: eventCountAt(sequence, position) }
}

/**
 * The number that a cursor names in the log of now; undefined where the model has not come so far.
 * @param current whether the model has come to the head of the log
 * @throws CursorLost, Refusal malformed
 */
function resolveCursor(cursor: Cursor, standing: FeedState, current: boolean): number | undefined {
  const { epoch, settledCount } = standing
  if (cursor.epoch < epoch) {
    const common = commonHistoryLength(cursor, standing)
    if (cursor.number <= common) return cursor.number
    throw new CursorLost(cursor, formatCursor({ epoch, number: common }))
  }
  if (cursor.epoch === epoch && cursor.number <= settledCount) return cursor.number
  if (!current) return undefined
  throw unknownCursor(cursor)
}

/**
 * How much of its account's past a cursor of another epoch shares with the log of now: what came before the next epoch began.
 * Of an epoch that was itself lost, nobody knows where it branched off.
 */
function commonHistoryLength({ epoch }: Cursor, { epochs, sequence, settledCount }: FeedState): number {
  const at = epochs.indexOf(epoch)
  if (epoch !== FIRST_EPOCH && at < 0) return 0
  const next = epochs[at + 1]
  const mark = sequence.epochs.find(([begun]) => next !== undefined && begun >= next)
  return Math.min(mark?.[1] ?? settledCount, settledCount)
}

const KINDS = [
  ['created', 'created'],
  ['fields', 'fieldsChanged'],
  ['certifications', 'certificationsChanged'],
  ['scores', 'scoresChanged'],
] as const satisfies readonly (readonly [ChangeKind, keyof ChangeNumbers])[]

const changeKindsOf = (numbers: ChangeNumbers, since: number): ChangeKind[] =>
  KINDS.flatMap(([what, name]) => (numbers[name] > since ? [what] : []))

const SELECTED_FIELDS = [...STATE_FIELDS, 'id', 'sku', ...CHANGE_NUMBERS]
