import { epochOf, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { comparePositions, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Document, ModelDeclaration, Stored, Write } from '../../stores/ports/read-store.ts'
import { placesIn, textOf } from './places.ts'

/** How a model numbers events: 1, 2, 3 and so on for each account, in the order of the log. */
export type Tallied<Value> = {
  /** The account that an event with which a document begins is for; undefined where it does not say. */
  beginsFor(event: StoredEvent): number | undefined
  accountOf(known: Document | Value): number
  /** What stands for a document of which nothing can be shown, so that what follows it is numbered too. */
  unshown(key: number, account: number, number: number): Document
  /** The document with the number of what made it anew, as a whole. @param before what stood there */
  renumbered(document: Document, before: Document | undefined, number: number): Document
  /** The fields that hold numbers of events. */
  readonly numbers: readonly string[]
}

/** Accounts count from 1, and so do documents: what is kept of an account stands under its number below zero. */
export const countKey = (account: number): number => -account

/** Where the epochs are kept that the log has begun. */
export const EPOCHS_KEY = 0

/** An epoch, and where it begins. */
export type Begun = { readonly epoch: number; readonly at: From }

/** In the order of the log. */
export const epochsIn = (text: string): Begun[] =>
  (JSON.parse(text) as [number, string][]).map(([epoch, place]) => ({ epoch, at: placesIn(place)[0] ?? 'start' }))

const epochsText = (epochs: readonly Begun[]): string =>
  JSON.stringify(epochs.map(({ epoch, at }) => [epoch, textOf([at])]))

/** The text that counts and epochs are kept in. */
export const COUNT_TEXT = 'state'

/**
 * What is kept of an account: how many events had come before a batch, and where those of the batch stand. A batch that
 * comes again, cut otherwise, then gives each event the number that it had.
 */
export type Count = {
  readonly before: number
  /** The last event of them. */
  readonly at: From
  readonly since: readonly Exclude<From, 'start'>[]
  /** How many had come when an epoch began, for those epochs in which any came. */
  readonly epochs: readonly (readonly [epoch: number, number: number])[]
}

const NONE: Count = { before: 0, at: 'start', since: [], epochs: [] }

type Kept = { readonly before: number; readonly places: string; readonly epochs: Count['epochs'] }

export function countIn(text: string): Count {
  const { before, places, epochs } = JSON.parse(text) as Kept
  const [at = 'start', ...since] = placesIn(places)
  return { before, at, since: since.filter((place) => place !== 'start'), epochs }
}

const countText = ({ before, at, since, epochs }: Count): string => {
  const kept: Kept = { before, places: textOf([at, ...since]), epochs }
  return JSON.stringify(kept)
}

/** How many of an account's events had come up to a position. */
export const countAt = ({ before, since }: Pick<Count, 'before' | 'since'>, position: From): number =>
  before + since.filter((place) => comparePositions(place, position) <= 0).length

type Counting = { count: Count; readonly over: Stored | undefined; readonly since: Exclude<From, 'start'>[] }

/** Numbers the events of one batch. */
export class Tally {
  readonly #counts = new Map<number, Counting>()
  readonly #epochs: Begun[]
  #noted: StoredEvent | undefined

  private constructor(
    private readonly declaration: ModelDeclaration,
    private readonly first: StoredEvent,
    private readonly stored: ReadonlyMap<unknown, Stored>,
  ) {
    const epochs = stored.get(EPOCHS_KEY)
    this.#epochs = epochs === undefined ? [] : epochsIn(String(epochs.document[COUNT_TEXT]))
    // What is not there costs a store more than what is: it is written with the first batch.
    if (epochs === undefined) this.#noted = first
  }

  /** @param accounts whose events may be in the batch */
  static async load(
    declaration: ModelDeclaration,
    build: Pick<Build, 'load'>,
    events: readonly StoredEvent[],
    accounts: Iterable<number>,
  ): Promise<Tally | undefined> {
    const [first] = events
    const keys = [...accounts].map(countKey)
    if (first === undefined || (keys.length === 0 && !events.some(isRestore))) return undefined
    const found = await build.load([EPOCHS_KEY, ...keys], [COUNT_TEXT])
    return new Tally(declaration, first, new Map(found.map((one) => [one.document['id'], one])))
  }

  /** True where events of the batch were written long ago: another runner is ahead, and knows no more of their numbers. */
  get isOvertaken(): boolean {
    const counts = [...this.stored.values()].filter(({ document }) => document['id'] !== EPOCHS_KEY)
    return counts.some(({ document }) => isAhead(countIn(String(document[COUNT_TEXT])), this.first.position))
  }

  /** The same batch from its beginning. */
  again(): Tally {
    return new Tally(this.declaration, this.first, this.stored)
  }

  note(event: StoredEvent): void {
    if (!isRestore(event)) return
    const epoch = epochOf(event)
    if (this.#epochs.some((known) => known.epoch === epoch)) return
    this.#epochs.push({ epoch, at: event.position })
    this.#noted = event
  }

  /** The number of the next event of an account; 0 for one whose documents show it, whatever becomes of the batch. */
  next(account: number, { position }: StoredEvent): number {
    const counting = this.#counts.get(account) ?? this.#begin(account)
    const { count, since } = counting
    if (comparePositions(position, count.at) <= 0) return 0
    const number = count.before + since.length
    const epoch = this.#epochs.findLast(({ at }) => comparePositions(at, position) < 0)?.epoch
    if (epoch !== undefined && !count.epochs.some(([known]) => known === epoch)) {
      counting.count = { ...count, epochs: [...count.epochs, [epoch, number]] }
    }
    since.push(position)
    return number + 1
  }

  #begin(account: number): Counting {
    const over = this.stored.get(countKey(account))
    const known = over === undefined ? NONE : countIn(String(over.document[COUNT_TEXT]))
    const counting: Counting = { count: beforeBatch(known, this.first.position), over, since: [] }
    this.#counts.set(account, counting)
    return counting
  }

  writes(): Write[] {
    const writes: Write[] = []
    for (const [account, { count, over, since }] of this.#counts) {
      const last = since.at(-1)
      if (last === undefined) continue
      const put = this.#document(countKey(account), countText({ ...count, since }))
      writes.push({ put, revision: last.commit, ...(over !== undefined && { over }) })
    }
    if (this.#noted !== undefined) {
      const over = this.stored.get(EPOCHS_KEY)
      const put = this.#document(EPOCHS_KEY, epochsText(this.#epochs))
      writes.push({ put, revision: this.#noted.position.commit, ...(over !== undefined && { over }) })
    }
    return writes
  }

  #document(id: number, text: string): Document {
    return { ...emptyDocument(this.declaration), id, [COUNT_TEXT]: text }
  }
}

/** What had been counted before a batch, whatever of it was written by a try that did not come to its end. */
function beforeBatch({ before, at, since, epochs }: Count, first: From): Count {
  const settled = since.filter((place) => comparePositions(place, first) < 0)
  return { before: before + settled.length, at: settled.at(-1) ?? at, since: [], epochs }
}

const isAhead = ({ at }: Count, first: From) => comparePositions(at, first) >= 0

const isRestore = ({ stream, type }: StoredEvent) => stream === RESTORES_STREAM && type === 'LogRestored'

/** A document of a model with nothing in it. */
export const emptyDocument = ({ fields, texts }: ModelDeclaration): Document =>
  Object.fromEntries([
    ...Object.entries(fields).map(([name, kind]) => [name, kind === 'text' ? '' : 0] as const),
    ...texts.map((name) => [name, ''] as const),
  ])
