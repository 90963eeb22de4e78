import type { ApiVersion } from '../domain/diamond/readers.ts'
import { diamondStream, scoresStream } from '../domain/diamond/streams.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../stores/event-store.ts'
import type { Document, ReadModel, Where } from '../stores/read-store.ts'
import { diamonds, type DiamondView } from './diamonds.ts'
import type { Progress } from './progress.ts'

/** One diamond as it is answered: its body still has the placeholders of src/domain/diamond/render.ts. */
export type DiamondAnswer = { readonly owner: number; readonly etag: string; readonly body: string }

export type DiamondList = {
  readonly total: number
  readonly bodies: readonly string[]
  /** False when the projection is behind: what was written last may be missing. */
  readonly current: boolean
}

export type DiamondFilter = {
  readonly ids?: readonly number[]
  readonly skus?: readonly string[]
  readonly isColored?: boolean
  readonly isPublished?: boolean
  /** Seconds since 1970, both included. */
  readonly from?: number
  readonly to?: number
}

export type Page = { readonly limit: number; readonly offset: number }

/** Milliseconds that an answer waits for the projection before it says that it did not. */
export const PATIENCE = 1_500

/** What requests ask of the diamonds read model. */
export class DiamondQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    readonly progress: Progress,
  ) {}

  /**
   * Folded from the log while the projection is behind, or has set the diamond aside. Answers at once where the stores
   * do and nothing has to be waited for, which is nearly always.
   */
  one(version: ApiVersion, id: number): DiamondAnswer | undefined | Promise<DiamondAnswer | undefined> {
    const head = this.store.head()
    if (head instanceof Promise || this.progress.reached(head, 0) !== true) return this.#oneLater(version, id)
    const parked = this.model.parked()
    if (parked instanceof Promise || parked.size > 0) return this.#oneLater(version, id)
    const document = this.model.get(id, ['owner', 'etag', version])
    if (document instanceof Promise) return document.then((found) => answerOf(version, found))
    return answerOf(version, document)
  }

  async #oneLater(version: ApiVersion, id: number): Promise<DiamondAnswer | undefined> {
    const head = await this.store.head()
    if ((await this.progress.reached(head, 0)) && !(await this.#isParked(id))) {
      return answerOf(version, await this.model.get(id, ['owner', 'etag', version]))
    }
    return answerOf(version, await this.#folded(id))
  }

  /** In the order of the ids; what does not exist is left out. */
  async many(version: ApiVersion, ids: readonly number[]): Promise<DiamondAnswer[]> {
    const answers = await Promise.all(ids.map((id) => this.one(version, id)))
    return answers.filter((answer) => answer !== undefined)
  }

  /** Newest first: by date, then by id. Sees what was written before the call, unless the projection is behind. */
  list(version: ApiVersion, owner: number, filter: DiamondFilter, page: Page): DiamondList | Promise<DiamondList> {
    const head = this.store.head()
    if (head instanceof Promise || this.progress.reached(head, 0) !== true) {
      return this.#listLater(version, owner, filter, page)
    }
    return this.#read(version, whereOf(owner, filter), page, true)
  }

  async #listLater(version: ApiVersion, owner: number, filter: DiamondFilter, page: Page): Promise<DiamondList> {
    const current = await this.progress.reached(await this.store.head(), PATIENCE)
    return this.#read(version, whereOf(owner, filter), page, current)
  }

  #read(version: ApiVersion, where: Where, page: Page, current: boolean): DiamondList | Promise<DiamondList> {
    const total = this.model.count(where)
    if (total instanceof Promise) return total.then((counted) => this.#page(version, where, page, counted, current))
    return this.#page(version, where, page, total, current)
  }

  #page(version: ApiVersion, where: Where, page: Page, total: number, current: boolean) {
    if (total <= page.offset) return { total, bodies: [], current }
    const found = this.model.find({ where, order: NEWEST_FIRST, ...page, select: [version] })
    const listed = (documents: readonly Document[]): DiamondList => ({
      total,
      bodies: documents.map((document) => String(document[version])),
      current,
    })
    return found instanceof Promise ? found.then(listed) : listed(found)
  }

  async #isParked(id: number): Promise<boolean> {
    const parked = await this.model.parked()
    return parked.size > 0 && (parked.has(diamondStream(id)) || parked.has(scoresStream(id)))
  }

  /** Folded from the log, for pages that show more than a body has. */
  async view(id: number): Promise<DiamondView | undefined> {
    const streams = await Promise.all([this.store.read(diamondStream(id)), this.store.read(scoresStream(id))])
    const events = streams.flat().sort((a, b) => comparePositions(a.position, b.position))
    return events.reduce<DiamondView | undefined>(applied, undefined)
  }

  async #folded(id: number): Promise<Document | undefined> {
    const view = await this.view(id)
    return view === undefined ? undefined : diamonds.toDocument(view)
  }
}

/** An event that can't be folded is left out here, as where its stream was set aside; the ones behind it count. */
function applied(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  try {
    return diamonds.apply(view, event)
  } catch {
    if (view === undefined || event.stream !== diamondStream(view.diamond.id)) return view
    return { ...view, revision: Number(event.revision) }
  }
}

const NEWEST_FIRST = [
  ['date', 'desc'],
  ['id', 'desc'],
] as const

function whereOf(owner: number, { ids, skus, isColored, isPublished, from, to }: DiamondFilter): Where {
  return {
    owner,
    ...(ids !== undefined && { id: { in: ids } }),
    ...(skus !== undefined && { sku: { in: skus } }),
    ...(isColored !== undefined && { isColored: isColored ? 1 : 0 }),
    ...(isPublished !== undefined && { isPublished: isPublished ? 1 : 0 }),
    ...((from !== undefined || to !== undefined) && {
      date: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    }),
  }
}

function answerOf(version: ApiVersion, document: Document | undefined): DiamondAnswer | undefined {
  if (document === undefined) return undefined
  return { owner: Number(document['owner']), etag: String(document['etag']), body: String(document[version]) }
}
