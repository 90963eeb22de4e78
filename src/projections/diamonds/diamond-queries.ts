import type { Changed } from '../../commands/diamonds/diamonds.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/streams.ts'
import { StoreUnavailable, type EventStore, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import { BrokenEvent, isUndecodable } from '../../events/decode.ts'
import { BODY, bodyOf, etagOf, fromDocument, READ_BACK, toDocument } from './diamond-document.ts'
import { eventsUntil, readDiamond, stepsOf } from './diamond-steps.ts'
import type { DiamondView } from './diamond-view.ts'
import { documentsOf, nextOf, rowsOf, totalOf, type AskedList } from './list-pages.ts'
import { LOOKED_THROUGH, orderOf, planOf, type Part, type Plan } from './list-plan.ts'
import type { DiamondFilter, Page, Place } from './list-query.ts'
import { isGone } from './followed-diamond.ts'
import { PATIENCE } from '../engine/patience.ts'
import type { Progress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReads } from '../engine/stale-reads.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

/** One diamond as it is answered: its body is finished but for the links in it. */
export type DiamondAnswer = {
  readonly owner: number
  /** R of its ETag. */
  readonly revision: number
  readonly etag: string
  /** Milliseconds since 1970: nobody has a copy with this ETag that is older. */
  readonly changedAt: number
  readonly body: string
  /** As `Stale` has it. */
  readonly age?: number
}

/** Where the log is away, and the read model alone was asked: whole seconds since the log last answered. */
export type Stale = { readonly age: number }

export type DiamondList = {
  readonly total: number
  readonly bodies: readonly string[]
  /** False when the projection is behind: what was written last may be missing. */
  readonly current: boolean
  /** Where the page behind this one begins; only of a page that was asked for by its place, and is not the last. */
  readonly next?: Place
  /** As `Stale` has it. */
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
   * Folded from the log while the projection is behind, or has set the diamond aside. Answers at once where the stores
   * do and nothing has to be waited for, which is nearly always.
   */
  one(version: ApiVersion, id: number): DiamondAnswer | undefined | Promise<DiamondAnswer | undefined> {
    const head = this.store.head()
    if (head instanceof Promise) return this.#oneLater(version, id, head)
    const reached = this.progress.reached(head, 0)
    if (reached !== true) return this.#oneWhen(version, id, reached)
    try {
      const parked = this.model.parked()
      if (parked instanceof Promise || parked.size > 0) return this.#oneUnlessParked(version, id, parked)
      const document = this.model.get(id, ANSWER[version])
      if (document instanceof Promise) return document.then((found) => answerOf(version, found))
      return answerOf(version, document)
    } catch (error) {
      return this.#oneInstead(version, id, error)
    }
  }

  async #oneLater(version: ApiVersion, id: number, head: Promise<From>): Promise<DiamondAnswer | undefined> {
    try {
      await head
    } catch (error) {
      return this.#oneStale(version, id, error)
    }
    return this.#oneWhen(version, id, this.#reached(head, 0))
  }

  async #oneStale(version: ApiVersion, id: number, error: unknown): Promise<DiamondAnswer | undefined> {
    const age = await this.stale.age(error)
    const document = await this.#kept(id, ANSWER[version], error)
    const answer = answerOf(version, document)
    return answer && { ...answer, age }
  }

  /** @throws the error where the read model has set the diamond aside, or lacks it and may not have come to it */
  async #kept(id: number, select: readonly string[], error: unknown): Promise<Document | undefined> {
    if (isParked(await this.model.parked(), id)) throw error
    const document = await this.model.get(id, select)
    if (document === undefined && !(await this.progress.reached(this.stale.newest, 0))) throw error
    return document
  }

  async #oneWhen(version: ApiVersion, id: number, reached: boolean | Promise<boolean>) {
    if (await reached) return this.#oneUnlessParked(version, id, this.model.parked())
    return answerOf(version, await this.#folded(id))
  }

  async #oneUnlessParked(version: ApiVersion, id: number, parked: Parked | Promise<Parked>) {
    try {
      if (isParked(await parked, id)) return answerOf(version, await this.#folded(id))
      return answerOf(version, await this.model.get(id, ANSWER[version]))
    } catch (error) {
      return this.#oneInstead(version, id, error)
    }
  }

  /** A read model that can't be reached is as one that is behind: the log has it all. */
  async #oneInstead(version: ApiVersion, id: number, error: unknown): Promise<DiamondAnswer | undefined> {
    if (!(error instanceof StoreUnavailable)) throw error
    return answerOf(version, await this.#folded(id))
  }

  async #reached(head: Promise<From>, ms: number): Promise<boolean> {
    return this.progress.reached(await head, ms)
  }

  /** The diamonds as these changes left them, in the same order, whatever has happened to them since. */
  async asChanged(version: ApiVersion, changed: readonly Changed[]): Promise<readonly DiamondAnswer[]> {
    const kept = await this.#keptOf(version, changed)
    const answers = changed.map(async ({ id, revision }) => {
      const found = kept.get(id)
      return found?.revision === Number(revision) ? found : answerOf(version, await this.#folded(id, revision))
    })
    return (await Promise.all(answers)).filter((answer) => answer !== undefined)
  }

  /** What the read model has of them, with one query. Their revisions tell whether it has the changes. */
  async #keptOf(version: ApiVersion, changed: readonly Changed[]): Promise<ReadonlyMap<number, DiamondAnswer>> {
    const kept = new Map<number, DiamondAnswer>()
    const ids = changed.map(({ id }) => id)
    const [only = 0, ...others] = ids
    const select = ['id', ...ANSWER[version]]
    const rows = { where: { id: { in: ids } }, order: [['id', 'asc']], limit: ids.length, offset: 0, select } as const
    try {
      const parked = await this.model.parked()
      const found = others.length === 0 ? [await this.model.get(only, select)] : await this.model.find(rows)
      for (const document of found) {
        const [id, answer] = [Number(document?.['id']), answerOf(version, document)]
        if (answer !== undefined && !isParked(parked, id)) kept.set(id, answer)
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
  list(version: ApiVersion, owner: number, filter: DiamondFilter, page: Page): DiamondList | Promise<DiamondList> {
    const head = this.store.head()
    const plan = planOf(owner, filter, page, this.lookedThrough)
    const asked = { filter, page }
    if (head instanceof Promise) return this.#listLater(version, plan, asked, head)
    const reached = this.progress.reached(head, this.patience)
    if (!(reached instanceof Promise)) return this.#read(version, plan, asked, reached)
    return reached.then((current) => this.#read(version, plan, asked, current))
  }

  async #listLater(version: ApiVersion, plan: Plan, asked: AskedList, head: Promise<From>): Promise<DiamondList> {
    try {
      await head
    } catch (error) {
      const age = await this.stale.age(error)
      return { ...(await this.#read(version, plan, asked, true)), age }
    }
    return this.#read(version, plan, asked, await this.#reached(head, this.patience))
  }

  /** Most lists have one part, and are answered at once where the store does. */
  #read(version: ApiVersion, plan: Plan, asked: AskedList, current: boolean): DiamondList | Promise<DiamondList> {
    const [part, ...others] = plan.parts
    if (
      part === undefined ||
      others.length > 0 ||
      plan.by !== undefined ||
      plan.candidates !== undefined ||
      plan.total === 'kept'
    ) {
      return this.#readParts(version, plan, asked, current)
    }
    const total = this.model.count(plan.total.where)
    if (total instanceof Promise) {
      return total.then((counted) => this.#page(version, part, asked, counted, current))
    }
    return this.#page(version, part, asked, total, current)
  }

  #page(version: ApiVersion, part: Part, { page }: AskedList, total: number, current: boolean) {
    if (total <= page.offset) return { total, bodies: [], current }
    const rows = { limit: rowsOf(page), offset: page.offset, select: listed(version, page) }
    const found = this.model.find({ ...part, ...rows })
    const shown = (documents: readonly Document[]) => listOf(version, documents, page, { total, current })
    return found instanceof Promise ? found.then(shown) : shown(found)
  }

  async #readParts(version: ApiVersion, plan: Plan, asked: AskedList, current: boolean): Promise<DiamondList> {
    const { total, plan: narrowed } = await totalOf(this.model, asked, plan)
    if (total <= asked.page.offset) return { total, bodies: [], current }
    const documents = await documentsOf(this.model, narrowed, asked.page, listed(version, asked.page))
    return listOf(version, documents, asked.page, { total, current })
  }

  /**
   * Folded from the log, for pages that show more than a body has.
   * Events that can't be understood are left out, as where their stream was set aside; the ones behind them count.
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
   * A diamond as it was answered at some time, folded from the log.
   * @param until milliseconds since 1970, included
   * @throws as `view`
   */
  async asOf(version: ApiVersion, id: number, until: number): Promise<DiamondAnswer | undefined> {
    const view = foldView(id, eventsUntil(await readDiamond(this.store, id), until))
    return answerOf(version, view && shown(view))
  }

  /** As `view`; from the read model where the log is away. */
  async page(id: number): Promise<{ readonly view: DiamondView | undefined; readonly age?: number }> {
    try {
      return { view: await this.view(id) }
    } catch (error) {
      const age = await this.stale.age(error)
      const document = await this.#kept(id, READ_BACK, error)
      return { view: document === undefined || isGone(document) ? undefined : fromDocument(document), age }
    }
  }

  async #folded(id: number, until?: bigint): Promise<Document | undefined> {
    const view = await this.view(id, until)
    return view === undefined ? undefined : shown(view)
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
  if (view === undefined && fault !== undefined) throw unreadable(id, fault)
  return view
}

function shown(view: DiamondView): Document {
  try {
    return toDocument(view)
  } catch (error) {
    throw unreadable(view.diamond.id, error)
  }
}

const unreadable = (id: number, cause: unknown) =>
  isUndecodable(cause) ? cause : new BrokenEvent(`diamond ${id} can not be shown`, { cause })

type Parked = ReadonlySet<string>

const isParked = (parked: Parked, id: number) =>
  parked.size > 0 && (parked.has(diamondStream(id)) || parked.has(scoresStream(id)))

/** What a list reads of each diamond: its body, and its place where the next page begins behind one. */
function listed(version: ApiVersion, { after, sort }: Page): readonly string[] {
  return after === undefined ? BODY[version] : [...BODY[version], 'id', orderOf(sort).field]
}

function listOf(
  version: ApiVersion,
  documents: readonly Document[],
  page: Page,
  known: Pick<DiamondList, 'total' | 'current'>,
): DiamondList {
  const next = nextOf(documents, page)
  const bodies = documents.slice(0, page.limit).map((document) => bodyOf(version, document))
  return { ...known, bodies, ...(next !== undefined && { next }) }
}

/** What `answerOf` reads for a version. */
const answered = (version: ApiVersion) => ['owner', 'ownersRevision', 'servicesRevision', 'changedAt', ...BODY[version]]
const ANSWER = { v3: answered('v3'), v4: answered('v4') }

function answerOf(version: ApiVersion, document: Document | undefined): DiamondAnswer | undefined {
  if (document === undefined || isGone(document)) return undefined
  return {
    owner: Number(document['owner']),
    revision: Number(document['ownersRevision']),
    etag: etagOf(document),
    changedAt: Number(document['changedAt']),
    body: bodyOf(version, document),
  }
}
