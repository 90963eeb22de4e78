import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import {
  StoreUnavailable,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import { InvalidEventPayload, isDecodeError } from '../../events/decode.ts'
import { fromDocument, STATE_FIELDS } from './diamond-document.ts'
import { eventsUntil, readDiamondEvents, foldTransitions } from './diamond-transitions.ts'
import { ownersRevision, type DiamondView } from './diamond-view.ts'
import { documentsOf, nextCursorOf, rowsOf, totalOf, type DiamondListRequest } from './list-pages.ts'
import {
  MAX_ENTRIES_SCANNED,
  parseSort,
  planList,
  type DiamondPageRequest,
  type PlanQuery,
  type KeysetCursor,
  type DiamondListPlan,
} from './list-plan.ts'
import type { DiamondFilter } from './list-attributes.ts'
import { isDeleted } from './diamond-record.ts'
import { READ_MODEL_WAIT_MS, type ProjectionProgress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReadPolicy } from '../engine/stale-reads.ts'

export type DiamondReadResult = {
  /** undefined if there is no such diamond. */
  readonly view: DiamondView | undefined
  /** Whole seconds since the event log's last response, if it is unavailable and only the read model was read. */
  readonly ageSeconds?: number
}

export type DiamondList = {
  readonly total: number
  readonly views: readonly DiamondView[]
  /** False if the projection lags: the latest writes may be missing. */
  readonly isCurrent: boolean
  /** Cursor of the next page; only with keyset pagination, and not on the last page. */
  readonly nextCursor?: KeysetCursor
  /** See DiamondReadResult. */
  readonly ageSeconds?: number
}

/** Queries of the diamonds read model. */
export class DiamondQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    readonly progress: ProjectionProgress,
    private readonly stale: StaleReadPolicy = NO_STALE_READS,
    private readonly maxScanned: number = MAX_ENTRIES_SCANNED,
    private readonly waitMs: number = READ_MODEL_WAIT_MS,
  ) {}

  /**
   * A diamond's current state; folded from the log if the projection lags or has parked the diamond. Synchronous in the
   * usual case: embedded stores and a projection that has caught up.
   * @throws NewerSchema, BrokenEvent for a diamond without a readable event
   */
  findDiamond(id: number): DiamondReadResult | Promise<DiamondReadResult> {
    const head = this.store.head()
    if (head instanceof Promise) return this.#findWhenHeadIsKnown(id, head)
    const reached = this.progress.waitForPosition(head, 0)
    if (reached !== true) return this.#findWhenCaughtUp(id, reached)
    try {
      const parked = this.model.parkedStreams()
      if (parked instanceof Promise || parked.size > 0) return this.#findUnlessParked(id, parked)
      const document = this.model.get(id, STATE_FIELDS)
      return document instanceof Promise ? document.then(toReadResult) : toReadResult(document)
    } catch (error) {
      return this.#findInLogIfUnavailable(id, error)
    }
  }

  async #findWhenHeadIsKnown(id: number, head: Promise<PositionOrStart>): Promise<DiamondReadResult> {
    try {
      await head
    } catch (error) {
      return this.#findStale(id, error)
    }
    return this.#findWhenCaughtUp(id, this.#reached(head, 0))
  }

  /** @throws the error if the diamond is parked, or missing from a read model that may lag */
  async #findStale(id: number, error: unknown): Promise<DiamondReadResult> {
    const age = await this.stale.ageSecondsOrThrow(error)
    if (isParked(await this.model.parkedStreams(), id)) throw error
    const document = await this.model.get(id, STATE_FIELDS)
    if (document === undefined && !(await this.progress.waitForPosition(this.stale.newestPosition, 0))) throw error
    return { ...toReadResult(document), ageSeconds: age }
  }

  async #findWhenCaughtUp(id: number, reached: boolean | Promise<boolean>): Promise<DiamondReadResult> {
    return (await reached) ? this.#findUnlessParked(id, this.model.parkedStreams()) : this.#folded(id)
  }

  async #findUnlessParked(id: number, parked: ParkedStreams | Promise<ParkedStreams>): Promise<DiamondReadResult> {
    try {
      return isParked(await parked, id) ? await this.#folded(id) : toReadResult(await this.model.get(id, STATE_FIELDS))
    } catch (error) {
      return this.#findInLogIfUnavailable(id, error)
    }
  }

  /** An unavailable read model is treated like one that lags: the log has the same data. */
  async #findInLogIfUnavailable(id: number, error: unknown): Promise<DiamondReadResult> {
    if (!(error instanceof StoreUnavailable)) throw error
    return this.#folded(id)
  }

  async #folded(id: number): Promise<DiamondReadResult> {
    return { view: await this.viewFromLog(id) }
  }

  async #reached(head: Promise<PositionOrStart>, ms: number): Promise<boolean> {
    return this.progress.waitForPosition(await head, ms)
  }

  /**
   * The diamonds as given changes left them, in the same order, regardless of later changes.
   * @param changed revision: R of the ETag `"R.S"` after the change
   */
  async viewsAtRevisions(
    changed: readonly { readonly id: number; readonly revision: bigint }[],
  ): Promise<readonly DiamondView[]> {
    const kept = await this.#storedViewsOf(changed.map(({ id }) => id))
    const views = changed.map(({ id, revision }) => {
      const found = kept.get(id)
      return found !== undefined && ownersRevision(found) === Number(revision) ? found : this.viewFromLog(id, revision)
    })
    return (await Promise.all(views)).filter((view) => view !== undefined)
  }

  /** Views from the read model, in one query. Their revisions show whether they include the changes. */
  async #storedViewsOf(ids: readonly number[]): Promise<ReadonlyMap<number, DiamondView>> {
    const kept = new Map<number, DiamondView>()
    const [only = 0, ...others] = ids
    const rows = {
      where: { id: { in: ids } },
      order: [['id', 'asc']],
      limit: ids.length,
      offset: 0,
      select: STATE_FIELDS,
    } as const
    try {
      const parked = await this.model.parkedStreams()
      const documents = others.length === 0 ? [await this.model.get(only, STATE_FIELDS)] : await this.model.find(rows)
      for (const { view } of documents.map(toReadResult)) {
        if (view !== undefined && !isParked(parked, view.diamond.id)) kept.set(view.diamond.id, view)
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
    return kept
  }

  /**
   * Includes everything written before the call, unless the projection lags.
   * @throws RequestError `invalid` for a list that exceeds the scan limit
   */
  list(owner: number, filter: DiamondFilter, page: DiamondPageRequest): DiamondList | Promise<DiamondList> {
    const head = this.store.head()
    const plan = planList(owner, filter, page, this.maxScanned)
    const request = { filter, page }
    if (head instanceof Promise) return this.#listLater(plan, request, head)
    const reached = this.progress.waitForPosition(head, this.waitMs)
    if (!(reached instanceof Promise)) return this.#read(plan, request, reached)
    return reached.then((current) => this.#read(plan, request, current))
  }

  async #listLater(
    plan: DiamondListPlan,
    request: DiamondListRequest,
    head: Promise<PositionOrStart>,
  ): Promise<DiamondList> {
    try {
      await head
    } catch (error) {
      const age = await this.stale.ageSecondsOrThrow(error)
      return { ...(await this.#read(plan, request, true)), ageSeconds: age }
    }
    return this.#read(plan, request, await this.#reached(head, this.waitMs))
  }

  /** Most lists have one query, and are read synchronously from an embedded store. */
  #read(plan: DiamondListPlan, request: DiamondListRequest, current: boolean): DiamondList | Promise<DiamondList> {
    const [part, ...others] = plan.queries
    if (
      part === undefined ||
      others.length > 0 ||
      plan.index !== undefined ||
      plan.scanned !== undefined ||
      plan.total === 'kept'
    ) {
      return this.#readParts(plan, request, current)
    }
    const total = this.model.count(plan.total.where)
    if (total instanceof Promise) {
      return total.then((counted) => this.#page(part, request, counted, current))
    }
    return this.#page(part, request, total, current)
  }

  #page(part: PlanQuery, { page }: DiamondListRequest, total: number, current: boolean) {
    if (total <= page.offset) return { total, views: [], isCurrent: current }
    const rows = { limit: rowsOf(page), offset: page.offset, select: selectedFieldsOf(page) }
    const found = this.model.find({ ...part, ...rows })
    const shown = (documents: readonly Document[]) => toDiamondList(documents, page, { total, isCurrent: current })
    return found instanceof Promise ? found.then(shown) : shown(found)
  }

  async #readParts(plan: DiamondListPlan, request: DiamondListRequest, current: boolean): Promise<DiamondList> {
    const { total, plan: narrowed } = await totalOf(this.model, request, plan)
    if (total <= request.page.offset) return { total, views: [], isCurrent: current }
    const documents = await documentsOf(this.model, narrowed, request.page, selectedFieldsOf(request.page))
    return toDiamondList(documents, request.page, { total, isCurrent: current })
  }

  /**
   * A diamond folded from the log. An event that can't be decoded is skipped, and later events are still applied.
   * @param until fold up to this revision of the diamond; default: all events
   * @throws NewerSchema, BrokenEvent for a diamond without a readable event
   */
  async viewFromLog(id: number, until?: bigint): Promise<DiamondView | undefined> {
    const own = diamondStream(id)
    const events = await readDiamondEvents(this.store, id)
    const next = until === undefined ? -1 : events.findIndex((e) => e.stream === own && e.revision > until)
    return foldView(id, next < 0 ? events : events.slice(0, next))
  }

  /**
   * A diamond as it was at a time, folded from the log.
   * @param until milliseconds since 1970, inclusive
   * @throws as `viewFromLog`
   */
  async viewAsOf(id: number, until: number): Promise<DiamondView | undefined> {
    return foldView(id, eventsUntil(await readDiamondEvents(this.store, id), until))
  }
}

/** A diamond without a readable event is not unknown (404): it throws the reason why it can't be read. */
function foldView(id: number, events: readonly StoredEvent[]): DiamondView | undefined {
  let view: DiamondView | undefined
  let fault: unknown
  for (const step of foldTransitions(id, events)) {
    view = step.after
    fault ??= step.fault
    if (step.event.type === 'DiamondDeleted' && step.fault === undefined) fault = undefined
  }
  if (view === undefined && fault !== undefined) {
    throw isDecodeError(fault) ? fault : new InvalidEventPayload(`diamond ${id} cannot be read`, { cause: fault })
  }
  return view
}

type ParkedStreams = ReadonlySet<string>

const isParked = (parked: ParkedStreams, id: number) =>
  parked.size > 0 && (parked.has(diamondStream(id)) || parked.has(scoresStream(id)))

/** The fields a list reads: the state, and with keyset pagination those of the next cursor. */
const selectedFieldsOf = ({ after, sort }: DiamondPageRequest): readonly string[] =>
  after === undefined ? STATE_FIELDS : [...STATE_FIELDS, 'id', parseSort(sort).field]

function toDiamondList(
  documents: readonly Document[],
  page: DiamondPageRequest,
  known: Pick<DiamondList, 'total' | 'isCurrent'>,
): DiamondList {
  const next = nextCursorOf(documents, page)
  const views = documents.slice(0, page.limit).map(fromDocument)
  return { ...known, views, ...(next !== undefined && { nextCursor: next }) }
}

const toReadResult = (document: Document | undefined): DiamondReadResult => ({
  view: document === undefined || isDeleted(document) ? undefined : fromDocument(document),
})
