import type { StoredEvent } from '../../stores/ports/event-store.ts'
import {
  ConcurrencyConflict,
  type ReadModelBuild,
  type DeadLetter,
  type Document,
  type FieldValue,
  type StoredDocument,
  type DocumentTable,
  type DocumentWrite,
} from '../../stores/ports/read-store.ts'
import { EventNumberer } from './account-sequence.ts'
import { toDeadLetter } from './dead-letter.ts'
import { handles } from './consume-batches.ts'
import type { Projection } from './read-model.ts'

/** What a batch makes of a build. */
export type BatchFoldResult = {
  readonly writes: readonly DocumentWrite[]
  readonly deadLetters: readonly DeadLetter[]
  readonly sequences: readonly DocumentWrite[]
}

/** What a batch is folded over. */
export type FoldSource = Pick<ReadModelBuild, 'load'> & { readonly sequences: Pick<DocumentTable, 'load'> }

/** An event and the document that it belongs to, if any, or why nobody can tell. */
type KeyedEvent = {
  readonly event: StoredEvent
  readonly key: FieldValue | undefined
  readonly createsDocument: boolean
  readonly fault: unknown
}

/** A document of the batch: as it is stored until an event asks for its value. */
type FoldedDocument<Value> = {
  readonly basedOn: StoredDocument | undefined
  document: Document | undefined
  value: Value | undefined
  changed: boolean
  revision: bigint
  /** What was folded into it. */
  readonly events: NumberedEvent[]
}

/** An event and its number among its account's. */
type NumberedEvent = { readonly event: StoredEvent; readonly number: number }

/** What gives an event its number. */
type EventNumberSource = Pick<EventNumberer, 'nextNumber' | 'recordEpoch'>

/** Where streams are folded again from their beginnings: their events have been counted. */
const NO_NUMBERS: EventNumberSource = { nextNumber: () => 0, recordEpoch: () => undefined }

type FoldedDocuments<Value> = Map<FieldValue, FoldedDocument<Value>>

/**
 * Loads the documents that a run of events touches, folds, and says what to write. Whatever a projection throws for an
 * event, be it that it can't be decoded, folded or shown, sets its stream aside, with everything that comes after it
 * there; other streams go on. What `load` throws is the store's fault, and none of a stream's.
 * @param parked streams set aside so far
 * @throws Outdated where it can't be folded over what was loaded because that was not what stands there
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: FoldSource,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<BatchFoldResult> {
  const keyed = events.map((event) => toKeyedEvent(projection, event))
  const stored = await loadDocuments(build, keyed)
  const accounts = accountsOf(projection, keyed, stored)
  const numbers = accounts && (await EventNumberer.load(build.sequences, events, accounts))
  const over = numbers?.isOvertaken === true ? await loadDocuments(build, keyed, 'all') : stored
  return foldKeyedBatch(projection, build, { keyed, stored: over, parked }, () => numbers?.restart())
}

/** Folds streams from their beginnings, over nothing. Their events are not counted again. */
export async function foldFromStart<Value>(
  projection: Projection<Value>,
  events: readonly StoredEvent[],
): Promise<BatchFoldResult> {
  const keyed = events.map((event) => toKeyedEvent(projection, event))
  return foldKeyedBatch(projection, { load: async () => [] }, { keyed, stored: [], parked: new Set() }, () => undefined)
}

type KeyedBatch = {
  readonly keyed: readonly KeyedEvent[]
  readonly stored: readonly StoredDocument[]
  readonly parked: ReadonlySet<string>
}

async function foldKeyedBatch<Value>(
  projection: Projection<Value>,
  build: Pick<ReadModelBuild, 'load'>,
  { keyed, stored, parked }: KeyedBatch,
  numbersAgain: () => EventNumberer | undefined,
): Promise<BatchFoldResult> {
  const faults = new Map<StoredEvent, unknown>()
  for (;;) {
    const numbers = numbersAgain()
    const known = { parked, faults, numbers: numbers ?? NO_NUMBERS }
    const { entries, letters, faulty } = foldAll(projection, stored, keyed, known)
    const { writes, unshown } = writesOf(projection, entries)
    if (unshown.length === 0) {
      await requireUnchangedDocuments(projection, build, faulty, stored)
      return { writes, deadLetters: letters, sequences: numbers?.writes() ?? [] }
    }
    for (const entry of unshown) {
      const { event, fault } = findFailingEvent(projection, entry)
      faults.set(event, fault)
    }
  }
}

function toKeyedEvent<Value>(projection: Projection<Value>, event: StoredEvent): KeyedEvent {
  try {
    const key = handles(projection, event) ? projection.keyOf(event) : undefined
    return { event, key, createsDocument: key !== undefined && projection.createsDocument(event), fault: undefined }
  } catch (error) {
    return { event, key: undefined, createsDocument: false, fault: error ?? new Error('nobody can tell its document') }
  }
}

/** The documents that may be there before the batch. */
async function loadDocuments(
  build: Pick<ReadModelBuild, 'load'>,
  keyed: readonly KeyedEvent[],
  which: 'all' | 'as needed' = 'as needed',
): Promise<readonly StoredDocument[]> {
  const known = new Set<FieldValue>()
  const wanted: FieldValue[] = []
  for (const { key, createsDocument } of keyed) {
    if (key === undefined || known.has(key)) continue
    known.add(key)
    if (!createsDocument || which === 'all') wanted.push(key)
  }
  return wanted.length === 0 ? [] : build.load(wanted)
}

/** Whose events may be among these; undefined in a model that counts none. */
function accountsOf<Value>(
  { numbering }: Projection<Value>,
  keyed: readonly KeyedEvent[],
  stored: readonly StoredDocument[],
): Set<number> | undefined {
  if (numbering === undefined) return undefined
  const accounts = new Set(stored.map(({ document }) => numbering.accountOf(document)))
  for (const { event, createsDocument } of keyed) {
    const account = createsDocument ? numbering.accountOfFirstEvent(event) : undefined
    if (account !== undefined) accounts.add(account)
  }
  return accounts
}

type FoldContext = {
  readonly numbers: EventNumberSource
  readonly parked: ReadonlySet<string>
  /** Events behind which a document can't be shown, found before. */
  readonly faults: ReadonlyMap<StoredEvent, unknown>
}

function foldAll<Value>(
  projection: Projection<Value>,
  stored: readonly StoredDocument[],
  keyed: readonly KeyedEvent[],
  { parked, faults, numbers }: FoldContext,
) {
  const entries: FoldedDocuments<Value> = new Map()
  for (const over of stored) {
    const key = over.document['id']
    if (key !== undefined) entries.set(key, fromStored(over))
  }
  const letters: DeadLetter[] = []
  const faulty = new Set<FieldValue>()
  const parkedStreams = new Set(parked)
  for (const one of keyed) {
    const { event, key, fault } = one
    numbers.recordEpoch(event)
    if (key === undefined && fault === undefined) continue
    const account = accountOf(projection, entries, one)
    const number = account === undefined ? 0 : numbers.nextNumber(account, event)
    try {
      if (parkedStreams.has(event.stream)) throw new Error('an earlier event of this stream was set aside')
      if (fault !== undefined) throw fault
      if (faults.has(event)) throw faults.get(event)
      if (key !== undefined) foldInto(projection, findOrAddDocument(entries, key), { event, number })
    } catch (error) {
      if (typeof key === 'number' && account !== undefined)
        addPlaceholder(projection, entries, key, { event, number }, account)
      if (key !== undefined && !parkedStreams.has(event.stream)) faulty.add(key)
      parkedStreams.add(event.stream)
      letters.push(toDeadLetter(event, error))
    }
  }
  return { entries, letters, faulty: [...faulty] }
}

/** Whose an event is: known by what its document is, or would begin with. */
function accountOf<Value>(
  { numbering }: Projection<Value>,
  entries: FoldedDocuments<Value>,
  { event, key, createsDocument }: KeyedEvent,
): number | undefined {
  if (numbering === undefined || key === undefined) return undefined
  const entry = entries.get(key)
  const known = entry?.document ?? entry?.value
  if (known !== undefined) return numbering.accountOf(known)
  return createsDocument ? numbering.accountOfFirstEvent(event) : undefined
}

/** What can't be shown from its beginning on still tells whose the events behind it are. */
function addPlaceholder<Value>(
  { numbering }: Projection<Value>,
  entries: FoldedDocuments<Value>,
  key: number,
  { event, number }: NumberedEvent,
  account: number,
): void {
  const entry = findOrAddDocument(entries, key)
  if (numbering === undefined || entry.document !== undefined || entry.value !== undefined) return
  entry.document = numbering.placeholderDocument(key, account, number)
  entry.changed = true
  entry.revision = event.position.commit
}

/** Before a stream is set aside: it must not be for what the store has not shown. */
async function requireUnchangedDocuments<Value>(
  { declaration }: Projection<Value>,
  build: Pick<ReadModelBuild, 'load'>,
  keys: readonly FieldValue[],
  stored: readonly StoredDocument[],
): Promise<void> {
  if (keys.length === 0) return
  const known = new Map(stored.map(({ document, revision }) => [document['id'] ?? '', revision]))
  for (const { document, revision } of await build.load(keys, 'acknowledged')) {
    const key = document['id'] ?? ''
    const loadedAt = known.get(key)
    if (loadedAt !== undefined && loadedAt !== revision) throw new ConcurrencyConflict(declaration.name, key)
  }
}

const fromStored = <Value>(over: StoredDocument): FoldedDocument<Value> => {
  const { document, revision } = over
  return { basedOn: over, document, value: undefined, changed: false, revision, events: [] }
}

function findOrAddDocument<Value>(entries: FoldedDocuments<Value>, key: FieldValue): FoldedDocument<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const fresh = { basedOn: undefined, document: undefined, value: undefined, changed: false, revision: 0n, events: [] }
  entries.set(key, fresh)
  return fresh
}

function foldInto<Value>(projection: Projection<Value>, entry: FoldedDocument<Value>, numbered: NumberedEvent): void {
  fold(projection, entry, numbered)
  entry.revision = numbered.event.position.commit
  entry.events.push(numbered)
}

function fold<Value>(
  projection: Projection<Value>,
  entry: FoldedDocument<Value>,
  { event, number }: NumberedEvent,
): void {
  if (entry.document !== undefined) {
    entry.value = projection.fromDocument(entry.document)
    entry.document = undefined
  }
  const value = projection.evolve(entry.value, event, number)
  entry.changed ||= value !== entry.value
  entry.value = value
}

/**
 * What came and went within the batch is removed too: a runner that was stopped before its end may have put it in, or be
 * about to.
 */
function writesOf<Value>(projection: Projection<Value>, entries: FoldedDocuments<Value>) {
  const writes: DocumentWrite[] = []
  const unshown: FoldedDocument<Value>[] = []
  for (const [key, entry] of entries) {
    if (!entry.changed) continue
    const { basedOn, revision } = entry
    try {
      const put = renderDocument(projection, entry)
      const guard = basedOn === undefined ? { revision } : { revision, basedOn }
      writes.push(put === undefined ? { remove: key, ...guard } : { put, ...guard })
    } catch {
      // It fails again where the event that made it so is looked for, and goes with that into its letter.
      unshown.push(entry)
    }
  }
  return { writes, unshown }
}

const renderDocument = <Value>(
  projection: Projection<Value>,
  { document, value }: FoldedDocument<Value>,
): Document | undefined => document ?? (value === undefined ? undefined : projection.toDocument(value))

/** The first event of a document behind which it can't be shown. */
function findFailingEvent<Value>(projection: Projection<Value>, { basedOn, events }: FoldedDocument<Value>) {
  const again: FoldedDocument<Value> = basedOn === undefined ? findOrAddDocument(new Map(), '') : fromStored(basedOn)
  for (const numbered of events) {
    try {
      foldInto(projection, again, numbered)
      renderDocument(projection, again)
    } catch (error) {
      return { event: numbered.event, fault: error ?? new Error('it can not be shown') }
    }
  }
  const last = events.at(-1)
  if (last === undefined) throw new Error('a document that nothing was folded into is as it was')
  return { event: last.event, fault: new Error('it could not be shown, and then it could: a projection must be pure') }
}
