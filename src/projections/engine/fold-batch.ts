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

export type BatchFoldResult = {
  readonly writes: readonly DocumentWrite[]
  readonly deadLetters: readonly DeadLetter[]
  readonly sequences: readonly DocumentWrite[]
}

export type FoldSource = Pick<ReadModelBuild, 'load'> & { readonly sequences: Pick<DocumentTable, 'load'> }

/** An event with the id of its document, if any, or the error thrown when determining it. */
type KeyedEvent = {
  readonly event: StoredEvent
  readonly key: FieldValue | undefined
  readonly createsDocument: boolean
  readonly fault: unknown
}

/** A document of the batch. `document` is its stored form until an event needs its `value`. */
type FoldedDocument<Value> = {
  readonly basedOn: StoredDocument | undefined
  document: Document | undefined
  value: Value | undefined
  changed: boolean
  revision: bigint
  readonly events: NumberedEvent[]
}

type NumberedEvent = { readonly event: StoredEvent; readonly number: number }

type EventNumberSource = Pick<EventNumberer, 'nextNumber' | 'recordEpoch'>

/** For streams that are folded again from the start: their events have been numbered already. */
const NO_NUMBERS: EventNumberSource = { nextNumber: () => 0, recordEpoch: () => undefined }

type FoldedDocuments<Value> = Map<FieldValue, FoldedDocument<Value>>

/**
 * Loads the documents that a batch touches, folds the events into them, and returns what to write. If a projection
 * throws for an event (while decoding, folding or rendering), the event's stream is parked with all its later events;
 * other streams continue. An error of `load` is the store's and parks nothing.
 * @param parked streams parked so far
 * @throws ConcurrencyConflict if a document has changed since it was loaded and folding failed
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: FoldSource,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<BatchFoldResult> {
  const keyedEvents = events.map((event) => toKeyedEvent(projection, event))
  const stored = await loadDocuments(build, keyedEvents)
  const accounts = accountsOf(projection, keyedEvents, stored)
  const numberer = accounts && (await EventNumberer.load(build.sequences, events, accounts))
  const base = numberer?.isOvertaken === true ? await loadDocuments(build, keyedEvents, 'all') : stored
  return foldKeyedBatch(projection, build, { keyedEvents, stored: base, parked }, () => numberer?.restart())
}

/** Folds streams from their start, without stored documents. Their events are not numbered again. */
export async function foldFromStart<Value>(
  projection: Projection<Value>,
  events: readonly StoredEvent[],
): Promise<BatchFoldResult> {
  const keyedEvents = events.map((event) => toKeyedEvent(projection, event))
  return foldKeyedBatch(
    projection,
    { load: async () => [] },
    { keyedEvents, stored: [], parked: new Set() },
    () => undefined,
  )
}

type KeyedBatch = {
  readonly keyedEvents: readonly KeyedEvent[]
  readonly stored: readonly StoredDocument[]
  readonly parked: ReadonlySet<string>
}

async function foldKeyedBatch<Value>(
  projection: Projection<Value>,
  build: Pick<ReadModelBuild, 'load'>,
  { keyedEvents, stored, parked }: KeyedBatch,
  createNumberer: () => EventNumberer | undefined,
): Promise<BatchFoldResult> {
  const faults = new Map<StoredEvent, unknown>()
  for (;;) {
    const numberer = createNumberer()
    const context = { parked, faults, numberer: numberer ?? NO_NUMBERS }
    const { entries, deadLetters, faultyKeys } = foldAll(projection, stored, keyedEvents, context)
    const { writes, failedEntries } = writesOf(projection, entries)
    if (failedEntries.length === 0) {
      await requireUnchangedDocuments(projection, build, faultyKeys, stored)
      return { writes, deadLetters, sequences: numberer?.writes() ?? [] }
    }
    for (const entry of failedEntries) {
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
    return {
      event,
      key: undefined,
      createsDocument: false,
      fault: error ?? new Error('the document of the event could not be determined'),
    }
  }
}

async function loadDocuments(
  build: Pick<ReadModelBuild, 'load'>,
  keyedEvents: readonly KeyedEvent[],
  which: 'all' | 'as needed' = 'as needed',
): Promise<readonly StoredDocument[]> {
  const seenKeys = new Set<FieldValue>()
  const keysToLoad: FieldValue[] = []
  for (const { key, createsDocument } of keyedEvents) {
    if (key === undefined || seenKeys.has(key)) continue
    seenKeys.add(key)
    if (!createsDocument || which === 'all') keysToLoad.push(key)
  }
  return keysToLoad.length === 0 ? [] : build.load(keysToLoad)
}

/** The accounts whose events may be in the batch; undefined if the model does not number events. */
function accountsOf<Value>(
  { numbering }: Projection<Value>,
  keyedEvents: readonly KeyedEvent[],
  stored: readonly StoredDocument[],
): Set<number> | undefined {
  if (numbering === undefined) return undefined
  const accounts = new Set(stored.map(({ document }) => numbering.accountOf(document)))
  for (const { event, createsDocument } of keyedEvents) {
    const account = createsDocument ? numbering.accountOfFirstEvent(event) : undefined
    if (account !== undefined) accounts.add(account)
  }
  return accounts
}

type FoldContext = {
  readonly numberer: EventNumberSource
  readonly parked: ReadonlySet<string>
  /** Events after which a document can't be rendered, found in an earlier pass. */
  readonly faults: ReadonlyMap<StoredEvent, unknown>
}

function foldAll<Value>(
  projection: Projection<Value>,
  stored: readonly StoredDocument[],
  keyedEvents: readonly KeyedEvent[],
  { parked, faults, numberer }: FoldContext,
) {
  const entries: FoldedDocuments<Value> = new Map()
  for (const base of stored) {
    const key = base.document['id']
    if (key !== undefined) entries.set(key, toFoldedDocument(base))
  }
  const deadLetters: DeadLetter[] = []
  const faultyKeys = new Set<FieldValue>()
  const parkedStreams = new Set(parked)
  for (const keyedEvent of keyedEvents) {
    const { event, key, fault } = keyedEvent
    numberer.recordEpoch(event)
    if (key === undefined && fault === undefined) continue
    const account = accountOf(projection, entries, keyedEvent)
    const number = account === undefined ? 0 : numberer.nextNumber(account, event)
    try {
      if (parkedStreams.has(event.stream)) throw new Error('an earlier event of this stream is parked')
      if (fault !== undefined) throw fault
      if (faults.has(event)) throw faults.get(event)
      if (key !== undefined) foldInto(projection, findOrAddDocument(entries, key), { event, number })
    } catch (error) {
      if (typeof key === 'number' && account !== undefined)
        addPlaceholder(projection, entries, key, { event, number }, account)
      if (key !== undefined && !parkedStreams.has(event.stream)) faultyKeys.add(key)
      parkedStreams.add(event.stream)
      deadLetters.push(toDeadLetter(event, error))
    }
  }
  return { entries, deadLetters, faultyKeys: [...faultyKeys] }
}

/** The account of an event, from its document or from the event that creates it. */
function accountOf<Value>(
  { numbering }: Projection<Value>,
  entries: FoldedDocuments<Value>,
  { event, key, createsDocument }: KeyedEvent,
): number | undefined {
  if (numbering === undefined || key === undefined) return undefined
  const entry = entries.get(key)
  const content = entry?.document ?? entry?.value
  if (content !== undefined) return numbering.accountOf(content)
  return createsDocument ? numbering.accountOfFirstEvent(event) : undefined
}

/**
 * A placeholder for a document that can't be rendered from its first event on, so that later events still have an
 * account.
 */
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

/**
 * Called before streams are parked: loads their documents again with the acknowledged state, since folding over a stale
 * document may fail as well.
 * @throws ConcurrencyConflict
 */
async function requireUnchangedDocuments<Value>(
  { declaration }: Projection<Value>,
  build: Pick<ReadModelBuild, 'load'>,
  keys: readonly FieldValue[],
  stored: readonly StoredDocument[],
): Promise<void> {
  if (keys.length === 0) return
  const loadedRevisions = new Map(stored.map(({ document, revision }) => [document['id'] ?? '', revision]))
  for (const { document, revision } of await build.load(keys, 'acknowledged')) {
    const key = document['id'] ?? ''
    const loadedRevision = loadedRevisions.get(key)
    if (loadedRevision !== undefined && loadedRevision !== revision)
      throw new ConcurrencyConflict(declaration.name, key)
  }
}

const toFoldedDocument = <Value>(base: StoredDocument): FoldedDocument<Value> => {
  const { document, revision } = base
  return { basedOn: base, document, value: undefined, changed: false, revision, events: [] }
}

function findOrAddDocument<Value>(entries: FoldedDocuments<Value>, key: FieldValue): FoldedDocument<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const newEntry = {
    basedOn: undefined,
    document: undefined,
    value: undefined,
    changed: false,
    revision: 0n,
    events: [],
  }
  entries.set(key, newEntry)
  return newEntry
}

function foldInto<Value>(
  projection: Projection<Value>,
  entry: FoldedDocument<Value>,
  numberedEvent: NumberedEvent,
): void {
  fold(projection, entry, numberedEvent)
  entry.revision = numberedEvent.event.position.commit
  entry.events.push(numberedEvent)
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
 * A document that is created and deleted within the batch is deleted from the store too: a runner that was stopped
 * midway may have written it, or may still do so.
 */
function writesOf<Value>(projection: Projection<Value>, entries: FoldedDocuments<Value>) {
  const writes: DocumentWrite[] = []
  const failedEntries: FoldedDocument<Value>[] = []
  for (const [key, entry] of entries) {
    if (!entry.changed) continue
    const { basedOn, revision } = entry
    try {
      const put = renderDocument(projection, entry)
      const guard = basedOn === undefined ? { revision } : { revision, basedOn }
      writes.push(put === undefined ? { remove: key, ...guard } : { put, ...guard })
    } catch {
      // findFailingEvent reproduces the error and puts it into the dead letter.
      failedEntries.push(entry)
    }
  }
  return { writes, failedEntries }
}

const renderDocument = <Value>(
  projection: Projection<Value>,
  { document, value }: FoldedDocument<Value>,
): Document | undefined => document ?? (value === undefined ? undefined : projection.toDocument(value))

/** The first event after which a document can't be rendered. */
function findFailingEvent<Value>(projection: Projection<Value>, { basedOn, events }: FoldedDocument<Value>) {
  const refoldedEntry: FoldedDocument<Value> =
    basedOn === undefined ? findOrAddDocument(new Map(), '') : toFoldedDocument(basedOn)
  for (const numberedEvent of events) {
    try {
      foldInto(projection, refoldedEntry, numberedEvent)
      renderDocument(projection, refoldedEntry)
    } catch (error) {
      return { event: numberedEvent.event, fault: error ?? new Error('the document cannot be rendered') }
    }
  }
  const last = events.at(-1)
  if (last === undefined) throw new Error('a document that cannot be rendered has no events')
  return {
    event: last.event,
    fault: new Error('rendering the document failed once and then succeeded: a projection must be pure'),
  }
}
