import type { StoredEvent } from '../../stores/ports/event-store.ts'
import {
  Outdated,
  type Build,
  type DeadLetter,
  type Document,
  type FieldValue,
  type Stored,
  type Write,
} from '../../stores/ports/read-store.ts'
import { letter } from './dead-letter.ts'
import type { Projection } from './read-model.ts'

export type Folded = { readonly writes: Write[]; readonly letters: DeadLetter[] }

/** An event and the document that it belongs to, if any, or why nobody can tell. */
type Keyed = {
  readonly event: StoredEvent
  readonly key: FieldValue | undefined
  readonly begins: boolean
  readonly fault: unknown
}

/** A document of the batch: as it is stored, or amended, until an event asks for its value. */
type Entry<Value> = {
  readonly over: Stored | undefined
  document: Document | undefined
  value: Value | undefined
  changed: boolean
  revision: bigint
  /** What was folded into it. */
  readonly events: StoredEvent[]
}

type Entries<Value> = Map<FieldValue, Entry<Value>>

/**
 * Loads the documents that a run of events touches, folds, and says what to write. Whatever a projection throws for an
 * event, be it that it can't be decoded, folded or shown, sets its stream aside, with everything that comes after it
 * there; other streams go on. What `load` throws is the store's fault, and none of a stream's.
 * @param parked streams set aside so far
 * @throws Outdated where it can't be folded over what was loaded because that was not what stands there
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: Pick<Build, 'load'>,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<Folded> {
  const keyed = events.map((event) => keyedBy(projection, event))
  const stored = await loaded(projection, build, keyed)
  const faults = new Map<StoredEvent, unknown>()
  for (;;) {
    const { entries, letters, faulty } = foldAll(projection, stored, keyed, { parked, faults })
    const { writes, unshown } = writesOf(projection, entries)
    if (unshown.length === 0) {
      await requireAsLoaded(projection, build, faulty, stored)
      return { writes, letters }
    }
    for (const entry of unshown) {
      const { event, fault } = culpritOf(projection, entry)
      faults.set(event, fault)
    }
  }
}

function keyedBy<Value>(projection: Projection<Value>, event: StoredEvent): Keyed {
  try {
    const key = projection.keyOf(event)
    return { event, key, begins: key !== undefined && projection.begins(event), fault: undefined }
  } catch (error) {
    return { event, key: undefined, begins: false, fault: error ?? new Error('nobody can tell its document') }
  }
}

/** The documents that may be there before the batch. */
async function loaded<Value>(
  projection: Projection<Value>,
  build: Pick<Build, 'load'>,
  keyed: readonly Keyed[],
): Promise<readonly Stored[]> {
  const known = new Set<FieldValue>()
  const wanted: FieldValue[] = []
  for (const { key, begins } of keyed) {
    if (key === undefined || known.has(key)) continue
    known.add(key)
    if (!begins) wanted.push(key)
  }
  return wanted.length === 0 ? [] : build.load(wanted, projection.stateTexts)
}

type Known = {
  readonly parked: ReadonlySet<string>
  /** Events behind which a document can't be shown, found before. */
  readonly faults: ReadonlyMap<StoredEvent, unknown>
}

function foldAll<Value>(
  projection: Projection<Value>,
  stored: readonly Stored[],
  keyed: readonly Keyed[],
  { parked, faults }: Known,
) {
  const entries: Entries<Value> = new Map()
  for (const over of stored) {
    const key = over.document['id']
    if (key !== undefined) entries.set(key, entryOver(over))
  }
  const letters: DeadLetter[] = []
  const faulty = new Set<FieldValue>()
  const aside = new Set(parked)
  for (const { event, key, fault } of keyed) {
    if (key === undefined && fault === undefined) continue
    try {
      if (aside.has(event.stream)) throw new Error('an earlier event of this stream was set aside')
      if (fault !== undefined) throw fault
      if (faults.has(event)) throw faults.get(event)
      if (key !== undefined) foldInto(projection, entryOf(entries, key), event)
    } catch (error) {
      if (key !== undefined && !aside.has(event.stream)) faulty.add(key)
      aside.add(event.stream)
      letters.push(letter(event, error))
    }
  }
  return { entries, letters, faulty: [...faulty] }
}

/** Before a stream is set aside: it must not be for what the store has not shown. */
async function requireAsLoaded<Value>(
  { declaration, stateTexts }: Projection<Value>,
  build: Pick<Build, 'load'>,
  keys: readonly FieldValue[],
  stored: readonly Stored[],
): Promise<void> {
  if (keys.length === 0) return
  const known = new Map(stored.map(({ document, revision }) => [document['id'] ?? '', revision]))
  for (const { document, revision } of await build.load(keys, stateTexts, 'acknowledged')) {
    const key = document['id'] ?? ''
    const loadedAt = known.get(key)
    if (loadedAt !== undefined && loadedAt !== revision) throw new Outdated(declaration.name, key)
  }
}

const entryOver = <Value>(over: Stored): Entry<Value> => {
  const { document, revision } = over
  return { over, document, value: undefined, changed: false, revision, events: [] }
}

function entryOf<Value>(entries: Entries<Value>, key: FieldValue): Entry<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const fresh = { over: undefined, document: undefined, value: undefined, changed: false, revision: 0n, events: [] }
  entries.set(key, fresh)
  return fresh
}

function foldInto<Value>(projection: Projection<Value>, entry: Entry<Value>, event: StoredEvent): void {
  fold(projection, entry, event)
  entry.revision = event.position.commit
  entry.events.push(event)
}

function fold<Value>(projection: Projection<Value>, entry: Entry<Value>, event: StoredEvent): void {
  if (entry.document !== undefined) {
    const amended = projection.amend?.(entry.document, event)
    if (amended !== undefined) {
      entry.changed ||= amended !== entry.document
      entry.document = amended
      return
    }
    entry.value = projection.fromDocument(entry.document)
    entry.document = undefined
  }
  const value = projection.apply(entry.value, event)
  entry.changed ||= value !== entry.value
  entry.value = value
}

/**
 * What came and went within the batch is removed too: a runner that was stopped before its end may have put it in, or be
 * about to.
 */
function writesOf<Value>(projection: Projection<Value>, entries: Entries<Value>) {
  const writes: Write[] = []
  const unshown: Entry<Value>[] = []
  for (const [key, entry] of entries) {
    if (!entry.changed) continue
    const { over, revision } = entry
    try {
      const put = shown(projection, entry)
      const guard = over === undefined ? { revision } : { revision, over }
      writes.push(put === undefined ? { remove: key, ...guard } : { put, ...guard })
    } catch {
      // It fails again where the event that made it so is looked for, and goes with that into its letter.
      unshown.push(entry)
    }
  }
  return { writes, unshown }
}

const shown = <Value>(projection: Projection<Value>, { document, value }: Entry<Value>): Document | undefined =>
  document ?? (value === undefined ? undefined : projection.toDocument(value))

/** The first event of a document behind which it can't be shown. */
function culpritOf<Value>(projection: Projection<Value>, { over, events }: Entry<Value>) {
  const again: Entry<Value> = over === undefined ? entryOf(new Map(), '') : entryOver(over)
  for (const event of events) {
    try {
      foldInto(projection, again, event)
      shown(projection, again)
    } catch (error) {
      return { event, fault: error ?? new Error('it can not be shown') }
    }
  }
  const last = events.at(-1)
  if (last === undefined) throw new Error('a document that nothing was folded into is as it was')
  return { event: last, fault: new Error('it could not be shown, and then it could: a projection must be pure') }
}
