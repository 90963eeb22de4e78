import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { StoreUnavailable, type EventStore, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import { BrokenEvent, isUndecodable } from '../../events/decode.ts'
import { fromDocument, STATE } from './diamond-document.ts'
import { eventsUntil, readDiamond, stepsOf } from './diamond-steps.ts'
import { ownersRevision, type DiamondView } from './diamond-view.ts'
import { documentsOf, nextOf, rowsOf, totalOf, type AskedList } from './list-pages.ts'
import { LOOKED_THROUGH, orderOf, planOf, type Page, type Part, type Place, type Plan } from './list-plan.ts'
import type { DiamondFilter } from './list-members.ts'
import { isGone } from './followed-diamond.ts'
import { PATIENCE, type Progress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReads } from '../engine/stale-reads.ts'

export type FoundDiamond = {
  /** undefined where there is none. */
  readonly view: DiamondView | undefined
  /** Where the log is away, and the read model alone was asked: whole seconds since the log last answered. */
  readonly age?: number
}

export type DiamondList = {
  readonly total: number
  /** Those of the page. */
  readonly views: readonly DiamondView[]
  /** False when the projection is behind: what was written last may be missing. */
  readonly current: boolean
  /** Where the page behind this one begins; only of a page that was asked for by its place, and is not the last. */
  readonly next?: Place
  /** As `FoundDiamond` has it. */
  readonly age?: number
}

/** What requests ask of the diamonds read model. */
export class DiamondQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    readonly progress: Progress,
    private readonly stale: StaleReads = NO_STALE_READS,
    private readonly lookedThrough: number = LOOKED_THROUGH,
    private readonly patience: number = PATIENCE,
  ) {}

  /**
   * A diamond as it is; folded from the log while the projection is behind, or has set the diamond aside. Answers at once
   * where the stores do and nothing has to be waited for, which is nearly always.
   * @throws NewerSchema, BrokenEvent for a diamond of which nothing can be understood
   */
  one(id: number): FoundDiamond | Promise<FoundDiamond> {
    const head = this.store.head()
    if (head instanceof Promise) return this.#oneLater(id, head)
    const reached = this.progress.reached(head, 0)
    if (reached !== true) return this.#oneWhen(id, reached)
    try {
      const parked = this.model.parked()
      if (parked instanceof Promise || parked.size > 0) return this.#oneUnlessParked(id, parked)
      const document = this.model.get(id, STATE)
      return document instanceof Promise ? document.then(foundIn) : foundIn(document)
    } catch (error) {
      return this.#oneInstead(id, error)
    }
  }

  async #oneLater(id: number, head: Promise<From>): Promise<FoundDiamond> {
    try {
      await head
    } catch (error) {
      return this.#oneStale(id, error)
    }
    return this.#oneWhen(id, this.#reached(head, 0))
  }

  /** @throws the error where the read model has set the diamond aside, or lacks it and may not have come to it */
  async #oneStale(id: number, error: unknown): Promise<FoundDiamond> {
    const age = await this.stale.age(error)
    if (isParked(await this.model.parked(), id)) throw error
    const document = await this.model.get(id, STATE)
    if (document === undefined && !(await this.progress.reached(this.stale.newest, 0))) throw error
    return { ...foundIn(document), age }
  }

  async #oneWhen(id: number, reached: boolean | Promise<boolean>): Promise<FoundDiamond> {
    return (await reached) ? this.#oneUnlessParked(id, this.model.parked()) : this.#folded(id)
  }

  async #oneUnlessParked(id: number, parked: Parked | Promise<Parked>): Promise<FoundDiamond> {
    try {
      return isParked(await parked, id) ? await this.#folded(id) : foundIn(await this.model.get(id, STATE))
    } catch (error) {
      return this.#oneInstead(id, error)
    }
  }

  /** A read model that can't be reached is as one that is behind: the log has it all. */
  async #oneInstead(id: number, error: unknown): Promise<FoundDiamond> {
    if (!(error instanceof StoreUnavailable)) throw error
    return this.#folded(id)
  }

  async #folded(id: number): Promise<FoundDiamond> {
    return { view: await this.view(id) }
  }

  async #reached(head: Promise<From>, ms: number): Promise<boolean> {
    return this.progress.reached(await head, ms)
  }

  /**
   * The diamonds as changes left them, in the same order, whatever has happened to them since.
   * @param changed revision: R of the ETag `"R.S"` that the change made
   */
  async asChanged(
    changed: readonly { readonly id: number; readonly revision: bigint }[],
  ): Promise<readonly DiamondView[]> {
    const kept = await this.#keptOf(changed.map(({ id }) => id))
    const views = changed.map(({ id, revision }) => {
      const found = kept.get(id)
      return found !== undefined && ownersRevision(found) === Number(revision) ? found : this.view(id, revision)
    })
    return (await Promise.all(views)).filter((view) => view !== undefined)
  }

  /** What the read model has of them, with one query. Their revisions tell whether it has the changes. */
  async #keptOf(ids: readonly number[]): Promise<ReadonlyMap<number, DiamondView>> {
    const kept = new Map<number, DiamondView>()
    const [only = 0, ...others] = ids
    const rows = {
      where: { id: { in: ids } },
      order: [['id', 'asc']],
      limit: ids.length,
      offset: 0,
      select: STATE,
    } as const
    try {
      const parked = await this.model.parked()
      const documents = others.length === 0 ? [await this.model.get(only, STATE)] : await this.model.find(rows)
      for (const { view } of documents.map(foundIn)) {
        if (view !== undefined && !isParked(parked, view.diamond.id)) kept.set(view.diamond.id, view)
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
    return kept
  }

  /**
   * Sees what was written before the call, unless the projection is behind.
   * @throws Refusal invalid for a list that no index serves
   */
  list(owner: number, filter: DiamondFilter, page: Page): DiamondList | Promise<DiamondList> {
    const head = this.store.head()
    const plan = planOf(owner, filter, page, this.lookedThrough)
    const asked = { filter, page }
    if (head instanceof Promise) return this.#listLater(plan, asked, head)
    const reached = this.progress.reached(head, this.patience)
    if (!(reached instanceof Promise)) return this.#read(plan, asked, reached)
    return reached.then((current) => this.#read(plan, asked, current))
  }

  async #listLater(plan: Plan, asked: AskedList, head: Promise<From>): Promise<DiamondList> {
    try {
      await head
    } catch (error) {
      const age = await this.stale.age(error)
      return { ...(await this.#read(plan, asked, true)), age }
    }
    return this.#read(plan, asked, await this.#reached(head, this.patience))
  }

  /** Most lists have one part, and are answered at once where the store does. */
  #read(plan: Plan, asked: AskedList, current: boolean): DiamondList | Promise<DiamondList> {
    const [part, ...others] = plan.parts
    if (
      part === undefined ||
      others.length > 0 ||
      plan.by !== undefined ||
      plan.candidates !== undefined ||
      plan.total === 'kept'
    ) {
      return this.#readParts(plan, asked, current)
    }
    const total = this.model.count(plan.total.where)
    if (total instanceof Promise) {
      return total.then((counted) => this.#page(part, asked, counted, current))
    }
    return this.#page(part, asked, total, current)
  }

  #page(part: Part, { page }: AskedList, total: number, current: boolean) {
    if (total <= page.offset) return { total, views: [], current }
    const rows = { limit: rowsOf(page), offset: page.offset, select: listed(page) }
    const found = this.model.find({ ...part, ...rows })
    const shown = (documents: readonly Document[]) => listOf(documents, page, { total, current })
    return found instanceof Promise ? found.then(shown) : shown(found)
  }

  async #readParts(plan: Plan, asked: AskedList, current: boolean): Promise<DiamondList> {
    const { total, plan: narrowed } = await totalOf(this.model, asked, plan)
    if (total <= asked.page.offset) return { total, views: [], current }
    const documents = await documentsOf(this.model, narrowed, asked.page, listed(asked.page))
    return listOf(documents, asked.page, { total, current })
  }

  /**
   * Folded from the log. An event that can't be decoded is skipped, and later events are still applied.
   * @param until the diamond's revision that it is folded up to; without it, to the end
   * @throws NewerSchema, BrokenEvent for a diamond of which nothing can be understood
   */
  async view(id: number, until?: bigint): Promise<DiamondView | undefined> {
    const own = diamondStream(id)
    const events = await readDiamond(this.store, id)
    const next = until === undefined ? -1 : events.findIndex((e) => e.stream === own && e.revision > until)
    return foldView(id, next < 0 ? events : events.slice(0, next))
  }

  /**
   * A diamond as it was at some time, folded from the log.
   * @param until milliseconds since 1970, included
   * @throws as `view`
   */
  async asOf(id: number, until: number): Promise<DiamondView | undefined> {
    return foldView(id, eventsUntil(await readDiamond(this.store, id), until))
  }
}

/** What nothing can be said of is not unknown: whoever asks is told that it can't be read now. */
function foldView(id: number, events: readonly StoredEvent[]): DiamondView | undefined {
  let view: DiamondView | undefined
  let fault: unknown
  for (const step of stepsOf(id, events)) {
    view = step.after
    fault ??= step.fault
    if (step.event.type === 'DiamondDeleted' && step.fault === undefined) fault = undefined
  }
  if (view === undefined && fault !== undefined) {
    throw isUndecodable(fault) ? fault : new BrokenEvent(`diamond ${id} can not be shown`, { cause: fault })
  }
  return view
}

type Parked = ReadonlySet<string>

const isParked = (parked: Parked, id: number) =>
  parked.size > 0 && (parked.has(diamondStream(id)) || parked.has(scoresStream(id)))

/** What a list reads of each diamond: its state, and its place where the next page begins behind one. */
const listed = ({ after, sort }: Page): readonly string[] =>
  after === undefined ? STATE : [...STATE, 'id', orderOf(sort).field]

function listOf(
  documents: readonly Document[],
  page: Page,
  known: Pick<DiamondList, 'total' | 'current'>,
): DiamondList {
  const next = nextOf(documents, page)
  const views = documents.slice(0, page.limit).map(fromDocument)
  return { ...known, views, ...(next !== undefined && { next }) }
}

const foundIn = (document: Document | undefined): FoundDiamond => ({
  view: document === undefined || isGone(document) ? undefined : fromDocument(document),
})
