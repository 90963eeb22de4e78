import { diamondStream, scoresStream, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { RequestError } from '../../domain/request-error.ts'
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
import { documentsOf, nextCursorOf, totalOf, type DiamondListRequest } from './list-pages.ts'
import {
  MAX_ENTRIES_SCANNED,
  parseSort,
  planList,
  splitByDateIndex,
  type DiamondPageRequest,
  type KeysetCursor,
  type DiamondListPlan,
} from './list-plan.ts'
import type { DiamondFilter } from './list-attributes.ts'
import { isDeleted } from './diamond-record.ts'
import { waitForTurn } from '../../runtime/event-loop.ts'
import { READ_MODEL_WAIT_MS, type ProjectionProgress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReadPolicy } from '../engine/stale-reads.ts'

/** Milliseconds to wait for the projection, and diamonds that are read in one turn of the event loop, when all are read. */
const CATCH_UP_MS = 10_000
const PAGE_SIZE = 50

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
   * A diamond's current state; folded from the log if the projection lags or has parked the diamond, or if the read
   * model is unavailable.
   * @throws UnsupportedEventVersion, InvalidEventPayload for a diamond without a readable event; StoreUnavailable
   */
  async findDiamond(id: number): Promise<DiamondReadResult> {
    let head: PositionOrStart
    try {
      head = await this.store.head()
    } catch (error) {
      return this.#findStale(id, error)
    }
    try {
      const isCurrent = await this.progress.waitForPosition(head, 0)
      if (isCurrent && !isParked(await this.model.parkedStreams(), id))
        return toReadResult(await this.model.get(id, STATE_FIELDS))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
    return { view: await this.viewFromLog(id) }
  }

  /** @throws the error if the diamond is parked, or missing from a read model that may lag */
  async #findStale(id: number, error: unknown): Promise<DiamondReadResult> {
    const ageSeconds = await this.stale.ageSecondsOrThrow(error)
    if (isParked(await this.model.parkedStreams(), id)) throw error
    const document = await this.model.get(id, STATE_FIELDS)
    if (document === undefined && !(await this.progress.waitForPosition(this.stale.newestPosition, 0))) throw error
    return { ...toReadResult(document), ageSeconds }
  }

  /**
   * The diamonds as given changes left them, in the same order, regardless of later changes.
   * @param changes revision: R of the ETag `"R.S"` after the change
   * @param isCurrent whether the read model has the changes; if not, they are folded from the log, with the latest scores
   */
  async viewsAtRevisions(
    changes: readonly { readonly id: number; readonly revision: bigint }[],
    isCurrent: boolean,
  ): Promise<readonly DiamondView[]> {
    const storedViews = isCurrent ? await this.#storedViewsOf(changes.map(({ id }) => id)) : undefined
    const views = changes.map(({ id, revision }) => {
      const storedView = storedViews?.get(id)
      return storedView !== undefined && ownersRevision(storedView) === Number(revision)
        ? storedView
        : this.viewFromLog(id, Number(revision))
    })
    return (await Promise.all(views)).filter((view) => view !== undefined)
  }

  /** Views from the read model, in one query. Their revisions show whether they include the changes. */
  async #storedViewsOf(ids: readonly number[]): Promise<ReadonlyMap<number, DiamondView>> {
    const storedViews = new Map<number, DiamondView>()
    const [firstId = 0, ...otherIds] = ids
    const query = {
      where: { id: { in: ids } },
      order: [['id', 'asc']],
      limit: ids.length,
      offset: 0,
      select: STATE_FIELDS,
    } as const
    try {
      const parked = await this.model.parkedStreams()
      const documents =
        otherIds.length === 0 ? [await this.model.get(firstId, STATE_FIELDS)] : await this.model.find(query)
      for (const { view } of documents.map(toReadResult)) {
        if (view !== undefined && !isParked(parked, view.diamond.id)) storedViews.set(view.diamond.id, view)
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
    return storedViews
  }

  /**
   * Includes everything written before the call, unless the projection lags.
   * @throws RequestError `invalid` for a list that exceeds the scan limit; StoreUnavailable
   */
  async list(owner: number, filter: DiamondFilter, page: DiamondPageRequest): Promise<DiamondList> {
    const plan = planList(owner, filter, page, this.maxScanned)
    const request = { filter, page }
    let head: PositionOrStart
    try {
      head = await this.store.head()
    } catch (error) {
      const ageSeconds = await this.stale.ageSecondsOrThrow(error)
      return { ...(await this.#readList(plan, request, true)), ageSeconds }
    }
    return this.#readList(plan, request, await this.progress.waitForPosition(head, this.waitMs))
  }

  /**
   * All of an account's diamonds that match a filter, in the order of their creation, page by page, with everything written before
   * the call. Any filter is accepted: what the index by date does not serve is compared with each diamond, so that a page may
   * be empty. Other requests run between two pages.
   * @throws RequestError unavailable if the projection lags too long; StoreUnavailable
   */
  async *pagesOf(owner: number, filter: DiamondFilter = {}): AsyncGenerator<readonly DiamondView[]> {
    if (!(await this.progress.waitForPosition(await this.store.head(), CATCH_UP_MS)))
      throw new RequestError('unavailable', 'The read model of diamonds is behind the event log; try again later', 5)
    const { served, condition } = splitByDateIndex(filter)
    for (let after: KeysetCursor | undefined = []; after !== undefined;) {
      // An embedded store never waits, so without this no request would run until all pages are read.
      await waitForTurn()
      const page: DiamondPageRequest = { limit: PAGE_SIZE, offset: 0, after, sort: 'date' }
      const plan = planList(owner, served, page, this.maxScanned)
      const select = [...selectedFieldsOf(page), ...condition.fields]
      const documents: Document[] = await documentsOf(this.model, plan, page, select)
      yield documents.slice(0, PAGE_SIZE).filter(condition.isMet).map(fromDocument)
      after = nextCursorOf(documents, page)
    }
  }

  /** The diamonds of these ids that exist, in no particular order. They may be some seconds old. @throws StoreUnavailable */
  async findDiamonds(ids: readonly number[]): Promise<readonly LiveDiamond[]> {
    if (ids.length === 0) return []
    return [...(await this.#storedViewsOf(ids)).values()].map(({ diamond }) => diamond)
  }

  async #readList(plan: DiamondListPlan, request: DiamondListRequest, isCurrent: boolean): Promise<DiamondList> {
    const { page } = request
    const { total, plan: restrictedPlan } = await totalOf(this.model, request, plan)
    if (total <= page.offset) return { total, views: [], isCurrent }
    const documents = await documentsOf(this.model, restrictedPlan, page, selectedFieldsOf(page))
    return toDiamondList(documents, page, { total, isCurrent })
  }

  /**
   * A diamond folded from the log. An event that can't be decoded is skipped, and later events are still applied.
   * @param until the last of the owner's revisions (R of the ETag `"R.S"`) to fold, with what the service added to it;
   *   default: all
   * @throws UnsupportedEventVersion, InvalidEventPayload for a diamond without a readable event
   */
  async viewFromLog(id: number, until = Infinity): Promise<DiamondView | undefined> {
    return foldView(id, await readDiamondEvents(this.store, id), until)
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

/**
 * A diamond without a readable event is not unknown (404): it throws the reason why it can't be read.
 * @param until as in `viewFromLog`
 */
function foldView(id: number, events: readonly StoredEvent[], until = Infinity): DiamondView | undefined {
  let view: DiamondView | undefined
  let fault: unknown
  for (const transition of foldTransitions(id, events)) {
    const { after, event } = transition
    const revision = after === undefined ? Number(event.revision) : ownersRevision(after)
    if (revision > until && event.stream === diamondStream(id)) break
    view = after
    fault ??= transition.fault
    if (event.type === 'DiamondDeleted' && transition.fault === undefined) fault = undefined
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
  summary: Pick<DiamondList, 'total' | 'isCurrent'>,
): DiamondList {
  const nextCursor = nextCursorOf(documents, page)
  const views = documents.slice(0, page.limit).map(fromDocument)
  return { ...summary, views, ...(nextCursor !== undefined && { nextCursor }) }
}

const toReadResult = (document: Document | undefined): DiamondReadResult => ({
  view: document === undefined || isDeleted(document) ? undefined : fromDocument(document),
})
