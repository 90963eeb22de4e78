import { epochOf, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { comparePositions, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document, ReadModel, Stored, Table, Write } from '../../stores/ports/read-store.ts'
import { placesIn, textOf } from './places.ts'

/** How a read model numbers the events of each account: 1, 2, 3 and so on, in the order of the log. */
export type Numbering<State> = {
  /** The account of an event with which a document begins; undefined where it does not say. */
  beginsFor(event: StoredEvent): number | undefined
  accountOf(known: Document | State): number
  /** What stands for a document of which nothing can be shown, so that what follows it is numbered too. */
  unshown(key: number, account: number, number: number): Document
  /** The document with the number of what made it anew, as a whole. @param before what stood there */
  renumbered(document: Document, before: Document | undefined, number: number): Document
  /** The fields that hold numbers of events. */
  readonly numbers: readonly string[]
}

type Place = Exclude<From, 'start'>

/**
 * How many events an account has: how many had come before a batch, and where those of the batch stand. A batch that comes
 * again, cut otherwise, then gives each event the number that it had.
 */
export type AccountSequence = {
  readonly before: number
  /** The last event of them. */
  readonly at: From
  readonly since: readonly Place[]
  /** How many had come when an epoch began, for those epochs in which any came. */
  readonly epochs: readonly (readonly [epoch: number, number: number])[]
}

/** An epoch of the log, and where it begins. */
export type Epoch = { readonly epoch: number; readonly at: From }

const EMPTY: AccountSequence = { before: 0, at: 'start', since: [], epochs: [] }

/** The sequence of the log itself, which says what epochs it has begun. Accounts have theirs under their numbers, from 1. */
const LOG = 0

/** How many of an account's events had come up to a position. */
export const lengthAt = ({ before, since }: AccountSequence, position: From): number =>
  before + since.filter((place) => comparePositions(place, position) <= 0).length

/** What a read model knows of accounts, and of the epochs of its log, in their order. */
export type KnownSequences = { of(account: number): AccountSequence; readonly epochs: readonly Epoch[] }

/**
 * What is written may be ahead of the model's checkpoint: read that first, and count up to there.
 * @throws StoreUnavailable
 */
export async function readSequences(
  model: Pick<ReadModel, 'sequences'>,
  accounts: readonly number[],
): Promise<KnownSequences> {
  const found = new Map((await model.sequences([LOG, ...accounts])).map((one) => [Number(one['id']), one]))
  return { of: (account) => sequenceIn(found.get(account)), epochs: epochsIn(found.get(LOG)) }
}

/**
 * Whether two sequences of one id say the same, both written up to the same position. How they are written down depends on
 * how events were cut into batches.
 */
export function isSameSequence(one: Document, other: Document): boolean {
  if (Number(one['id']) === LOG) return one['state'] === other['state']
  const said = (document: Document) => {
    const { before, since, epochs } = sequenceIn(document)
    return JSON.stringify([before + since.length, epochs])
  }
  return said(one) === said(other)
}

type StoredSequence = { readonly before: number; readonly places: string; readonly epochs: AccountSequence['epochs'] }

function sequenceIn(document: Document | undefined): AccountSequence {
  if (document === undefined) return EMPTY
  const { before, places, epochs } = JSON.parse(String(document['state'])) as StoredSequence
  const [at = 'start', ...since] = placesIn(places)
  return { before, at, since: since.filter((place) => place !== 'start'), epochs }
}

function sequenceText({ before, at, since, epochs }: AccountSequence): string {
  const stored: StoredSequence = { before, places: textOf([at, ...since]), epochs }
  return JSON.stringify(stored)
}

const epochsIn = (document: Document | undefined): Epoch[] =>
  (JSON.parse(String(document?.['state'] ?? '[]')) as [number, string][]).map(([epoch, place]) => ({
    epoch,
    at: placesIn(place)[0] ?? 'start',
  }))

const epochsText = (epochs: readonly Epoch[]): string =>
  JSON.stringify(epochs.map(({ epoch, at }) => [epoch, textOf([at])]))

/** A sequence that a batch adds to. */
type Growing = { sequence: AccountSequence; readonly since: Place[] }

/** Numbers the events of one batch. */
export class EventNumbers {
  readonly #growing = new Map<number, Growing>()
  readonly #epochs: Epoch[]
  #begun: StoredEvent | undefined

  private constructor(
    private readonly first: StoredEvent,
    private readonly stored: ReadonlyMap<number, Stored>,
  ) {
    this.#epochs = epochsIn(stored.get(LOG)?.document)
    // What is not there costs a store more than what is: it is written with the first batch.
    if (!stored.has(LOG)) this.#begun = first
  }

  /**
   * @param accounts whose events may be in the batch
   * @returns undefined for a batch in which there is nothing to number
   */
  static async load(
    sequences: Pick<Table, 'load'>,
    events: readonly StoredEvent[],
    accounts: Iterable<number>,
  ): Promise<EventNumbers | undefined> {
    const [first] = events
    const ids = [...accounts]
    if (first === undefined || (ids.length === 0 && !events.some(isRestore))) return undefined
    const found = await sequences.load([LOG, ...ids])
    return new EventNumbers(first, new Map(found.map((one) => [Number(one.document['id']), one])))
  }

  /** True where events of the batch were written long ago: another runner is ahead, and knows no more of their numbers. */
  get isOvertaken(): boolean {
    const { position } = this.first
    return [...this.stored].some(
      ([id, { document }]) => id !== LOG && comparePositions(sequenceIn(document).at, position) >= 0,
    )
  }

  /** The same batch from its beginning. */
  again(): EventNumbers {
    return new EventNumbers(this.first, this.stored)
  }

  /** Notes the epoch that an event begins, where it does. */
  note(event: StoredEvent): void {
    if (!isRestore(event)) return
    const epoch = epochOf(event)
    if (this.#epochs.some((known) => known.epoch === epoch)) return
    this.#epochs.push({ epoch, at: event.position })
    this.#begun = event
  }

  /** The number of the next event of an account; 0 for one whose documents show it, whatever becomes of the batch. */
  next(account: number, { position }: StoredEvent): number {
    const growing = this.#growing.get(account) ?? this.#begin(account)
    const { sequence, since } = growing
    if (comparePositions(position, sequence.at) <= 0) return 0
    const number = sequence.before + since.length
    const epoch = this.#epochs.findLast(({ at }) => comparePositions(at, position) < 0)?.epoch
    if (epoch !== undefined && !sequence.epochs.some(([known]) => known === epoch)) {
      growing.sequence = { ...sequence, epochs: [...sequence.epochs, [epoch, number]] }
    }
    since.push(position)
    return number + 1
  }

  #begin(account: number): Growing {
    const known = sequenceIn(this.stored.get(account)?.document)
    const growing: Growing = { sequence: beforeBatch(known, this.first.position), since: [] }
    this.#growing.set(account, growing)
    return growing
  }

  /** Of the table of sequences. */
  writes(): Write[] {
    const writes: Write[] = []
    for (const [account, { sequence, since }] of this.#growing) {
      const last = since.at(-1)
      if (last !== undefined) writes.push(this.#write(account, sequenceText({ ...sequence, since }), last))
    }
    if (this.#begun !== undefined) writes.push(this.#write(LOG, epochsText(this.#epochs), this.#begun.position))
    return writes
  }

  #write(id: number, state: string, { commit }: Place): Write {
    const over = this.stored.get(id)
    return { put: { id, state }, revision: commit, ...(over !== undefined && { over }) }
  }
}

/** What had come before a batch, whatever of it was written by a try that did not come to its end. */
function beforeBatch({ before, at, since, epochs }: AccountSequence, first: From): AccountSequence {
  const settled = since.filter((place) => comparePositions(place, first) < 0)
  return { before: before + settled.length, at: settled.at(-1) ?? at, since: [], epochs }
}

const isRestore = ({ stream, type }: StoredEvent) => stream === RESTORES_STREAM && type === 'LogRestored'
