import { epochOfLastRestore, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { comparePositions, type PositionOrStart, type StoredEvent } from '../../stores/ports/event-store.ts'
import type {
  Document,
  ReadModel,
  StoredDocument,
  DocumentTable,
  DocumentWrite,
} from '../../stores/ports/read-store.ts'
import { parsePositions, formatPositions } from './position-text.ts'

/** How a read model numbers the events of each account: 1, 2, 3, ... in log order. */
export type AccountNumbering<State> = {
  /** The account of an event that creates a document; undefined if the event does not say. */
  accountOfFirstEvent(event: StoredEvent): number | undefined
  accountOf(documentOrState: Document | State): number
  /** Placeholder for a document that can't be rendered, so that its later events are numbered too. */
  placeholderDocument(key: number, account: number, number: number): Document
  /** A document rebuilt by a retry, with the number of that change. @param before the stored document */
  renumberDocument(document: Document, before: Document | undefined, number: number): Document
  readonly numberFields: readonly string[]
}

type EventPosition = Exclude<PositionOrStart, 'start'>

/**
 * How many events an account has: the count before the last batch, and the positions of the batch's events. If the
 * batch is delivered again, possibly with other limits, each event gets the same number as before.
 */
export type AccountSequence = {
  readonly countBeforeBatch: number
  /** Position of the last event before the batch. */
  readonly positionBeforeBatch: PositionOrStart
  readonly batchPositions: readonly EventPosition[]
  /** For each epoch with events: the count when the epoch began. */
  readonly epochs: readonly (readonly [epoch: number, number: number])[]
}

type LogEpochStart = { readonly epoch: number; readonly position: PositionOrStart }

const EMPTY_SEQUENCE: AccountSequence = {
  countBeforeBatch: 0,
  positionBeforeBatch: 'start',
  batchPositions: [],
  epochs: [],
}

/**
 * The id under which the log's own sequence, the starts of its epochs, is stored. Accounts have theirs under their ids,
 * from 1.
 */
const LOG_SEQUENCE_ID = 0

/** The number of an account's events up to a position, and the position of the last of them. */
export function eventsUpTo(
  { countBeforeBatch, positionBeforeBatch, batchPositions }: AccountSequence,
  position: PositionOrStart,
): { readonly count: number; readonly last: PositionOrStart } {
  const ofBatch = batchPositions.filter((eventPosition) => comparePositions(eventPosition, position) <= 0)
  return { count: countBeforeBatch + ofBatch.length, last: ofBatch.at(-1) ?? positionBeforeBatch }
}

/** Sequences of accounts, and the log's epochs in order. */
type AccountSequences = {
  sequenceOf(account: number): AccountSequence
  readonly epochs: readonly LogEpochStart[]
}

/**
 * Reads the sequences of accounts. They may be ahead of the model's checkpoint: read the checkpoint first, then count
 * up to it.
 * @throws StoreUnavailable
 */
export async function readSequences(
  model: Pick<ReadModel, 'sequences'>,
  accounts: readonly number[],
): Promise<AccountSequences> {
  const documentsById = new Map(
    (await model.sequences([LOG_SEQUENCE_ID, ...accounts])).map((document) => [Number(document['id']), document]),
  )
  return {
    sequenceOf: (account) => parseSequence(documentsById.get(account)),
    epochs: parseEpochs(documentsById.get(LOG_SEQUENCE_ID)),
  }
}

/**
 * Whether two sequences with the same id, written up to the same position, are equal. Their stored form depends on how
 * events were split into batches.
 */
export function isSameSequence(one: Document, other: Document): boolean {
  if (Number(one['id']) === LOG_SEQUENCE_ID) return one['state'] === other['state']
  const contentOf = (document: Document) => {
    const { countBeforeBatch, batchPositions, epochs } = parseSequence(document)
    return JSON.stringify([countBeforeBatch + batchPositions.length, epochs])
  }
  return contentOf(one) === contentOf(other)
}

type StoredSequence = { readonly before: number; readonly places: string; readonly epochs: AccountSequence['epochs'] }

function parseSequence(document: Document | undefined): AccountSequence {
  if (document === undefined) return EMPTY_SEQUENCE
  const { before, places, epochs } = JSON.parse(String(document['state'])) as StoredSequence
  const [positionBeforeBatch = 'start', ...positions] = parsePositions(places)
  return {
    countBeforeBatch: before,
    positionBeforeBatch,
    batchPositions: positions.filter((position) => position !== 'start'),
    epochs,
  }
}

function formatSequence({ countBeforeBatch, positionBeforeBatch, batchPositions, epochs }: AccountSequence): string {
  const stored: StoredSequence = {
    before: countBeforeBatch,
    places: formatPositions([positionBeforeBatch, ...batchPositions]),
    epochs,
  }
  return JSON.stringify(stored)
}

const parseEpochs = (document: Document | undefined): LogEpochStart[] =>
  (JSON.parse(String(document?.['state'] ?? '[]')) as [number, string][]).map(([epoch, positionText]) => ({
    epoch,
    position: parsePositions(positionText)[0] ?? 'start',
  }))

const formatEpochs = (epochs: readonly LogEpochStart[]): string =>
  JSON.stringify(epochs.map(({ epoch, position }) => [epoch, formatPositions([position])]))

type SequenceUpdate = { sequence: AccountSequence; readonly positions: EventPosition[] }

/** Numbers the events of one batch. */
export class EventNumberer {
  readonly #updates = new Map<number, SequenceUpdate>()
  readonly #epochs: LogEpochStart[]
  #epochsChangedBy: StoredEvent | undefined

  private constructor(
    private readonly firstEvent: StoredEvent,
    private readonly stored: ReadonlyMap<number, StoredDocument>,
  ) {
    this.#epochs = parseEpochs(stored.get(LOG_SEQUENCE_ID)?.document)
    // Looking up a missing document costs the store more than an existing one: create it with the first batch.
    if (!stored.has(LOG_SEQUENCE_ID)) this.#epochsChangedBy = firstEvent
  }

  /**
   * @param accounts whose events may be in the batch
   * @returns undefined if the batch has nothing to number
   */
  static async load(
    sequences: Pick<DocumentTable, 'load'>,
    events: readonly StoredEvent[],
    accounts: Iterable<number>,
  ): Promise<EventNumberer | undefined> {
    const [first] = events
    const ids = [...accounts]
    if (first === undefined || (ids.length === 0 && !events.some(isRestore))) return undefined
    const found = await sequences.load([LOG_SEQUENCE_ID, ...ids])
    return new EventNumberer(first, new Map(found.map((one) => [Number(one.document['id']), one])))
  }

  /**
   * True if events of the batch were counted earlier: another runner is ahead, and their numbers are no longer stored.
   */
  get isOvertaken(): boolean {
    const { position } = this.firstEvent
    return [...this.stored].some(
      ([id, { document }]) =>
        id !== LOG_SEQUENCE_ID && comparePositions(parseSequence(document).positionBeforeBatch, position) >= 0,
    )
  }

  /** A numberer for a second pass over the same batch. */
  restart(): EventNumberer {
    return new EventNumberer(this.firstEvent, this.stored)
  }

  recordEpoch(event: StoredEvent): void {
    if (!isRestore(event)) return
    const epoch = epochOfLastRestore(event)
    if (this.#epochs.some((known) => known.epoch === epoch)) return
    this.#epochs.push({ epoch, position: event.position })
    this.#epochsChangedBy = event
  }

  /**
   * The number of an account's next event; 0 for an event counted before the batch, whose document already shows its
   * number.
   */
  nextNumber(account: number, { position }: StoredEvent): number {
    const update = this.#updates.get(account) ?? this.#beginUpdate(account)
    const { sequence, positions } = update
    if (comparePositions(position, sequence.positionBeforeBatch) <= 0) return 0
    const number = sequence.countBeforeBatch + positions.length
    const epoch = this.#epochs.findLast(({ position: at }) => comparePositions(at, position) < 0)?.epoch
    if (epoch !== undefined && !sequence.epochs.some(([known]) => known === epoch)) {
      update.sequence = { ...sequence, epochs: [...sequence.epochs, [epoch, number]] }
    }
    positions.push(position)
    return number + 1
  }

  #beginUpdate(account: number): SequenceUpdate {
    const storedSequence = parseSequence(this.stored.get(account)?.document)
    const update: SequenceUpdate = {
      sequence: sequenceBeforeBatch(storedSequence, this.firstEvent.position),
      positions: [],
    }
    this.#updates.set(account, update)
    return update
  }

  writes(): DocumentWrite[] {
    const writes: DocumentWrite[] = []
    for (const [account, { sequence, positions }] of this.#updates) {
      const last = positions.at(-1)
      if (last !== undefined)
        writes.push(this.#write(account, formatSequence({ ...sequence, batchPositions: positions }), last))
    }
    if (this.#epochsChangedBy !== undefined)
      writes.push(this.#write(LOG_SEQUENCE_ID, formatEpochs(this.#epochs), this.#epochsChangedBy.position))
    return writes
  }

  #write(id: number, state: string, { commit }: EventPosition): DocumentWrite {
    const base = this.stored.get(id)
    return { put: { id, state }, revision: commit, ...(base !== undefined && { basedOn: base }) }
  }
}

/** The sequence before a batch, without what an earlier, interrupted attempt at this batch has written. */
function sequenceBeforeBatch(
  { countBeforeBatch, positionBeforeBatch, batchPositions, epochs }: AccountSequence,
  firstPosition: PositionOrStart,
): AccountSequence {
  const earlierPositions = batchPositions.filter((position) => comparePositions(position, firstPosition) < 0)
  return {
    countBeforeBatch: countBeforeBatch + earlierPositions.length,
    positionBeforeBatch: earlierPositions.at(-1) ?? positionBeforeBatch,
    batchPositions: [],
    epochs,
  }
}

const isRestore = ({ stream, type }: StoredEvent) => stream === RESTORES_STREAM && type === 'LogRestored'
