import type { StoredEvent } from '../stores/event-store.ts'
import {
  Outdated,
  type Build,
  type DeadLetter,
  type Document,
  type FieldValue,
  type Stored,
  type Write,
} from '../stores/read-store.ts'
import type { Projection } from './projection.ts'

export type Folded = { readonly writes: Write[]; readonly letters: DeadLetter[] }

/** A document of the batch: as it is stored, or amended, until an event asks for its value. */
type Entry<Value> = {
  readonly over: Stored | undefined
  document: Document | undefined
  value: Value | undefined
  changed: boolean
  revision: bigint
}

/**
 * Loads the documents that a run of events touches, folds, and says what to write. An event that can't be folded sets
 * its stream aside, with everything that comes after it there; other streams go on.
 * @param parked streams set aside so far
 * @throws Outdated where it can't be folded over what was loaded because that was not what stands there
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: Pick<Build, 'load'>,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<Folded> {
  const entries = await loadEntries(projection, build, events)
  const letters: DeadLetter[] = []
  const faulty = new Set<FieldValue>()
  const aside = new Set(parked)
  for (const event of events) {
    const key = projection.keyOf(event)
    if (key === undefined) continue
    const entry = entryOf(entries, key)
    try {
      if (aside.has(event.stream)) throw new Error('an earlier event of this stream was set aside')
      fold(projection, entry, event)
      entry.revision = event.position.commit
    } catch (error) {
      if (!aside.has(event.stream)) faulty.add(key)
      aside.add(event.stream)
      letters.push(letter(event, error))
    }
  }
  await requireAsLoaded(projection, build, [...faulty], entries)
  return { writes: writesOf(projection, entries), letters }
}

async function loadEntries<Value>(
  projection: Projection<Value>,
  build: Pick<Build, 'load'>,
  events: readonly StoredEvent[],
) {
  const entries = new Map<FieldValue, Entry<Value>>()
  const known = new Set<FieldValue>()
  const wanted: FieldValue[] = []
  for (const event of events) {
    const key = projection.keyOf(event)
    if (key === undefined || known.has(key)) continue
    known.add(key)
    if (!projection.begins(event)) wanted.push(key)
  }
  if (wanted.length === 0) return entries
  for (const over of await build.load(wanted, projection.stateTexts)) {
    const { document, revision } = over
    const key = document['id']
    if (key !== undefined) entries.set(key, { over, document, value: undefined, changed: false, revision })
  }
  return entries
}

/** Before a stream is set aside: it must not be for what the store has not shown. */
async function requireAsLoaded<Value>(
  { declaration, stateTexts }: Projection<Value>,
  build: Pick<Build, 'load'>,
  keys: readonly FieldValue[],
  entries: ReadonlyMap<FieldValue, Entry<Value>>,
): Promise<void> {
  if (keys.length === 0) return
  for (const { document, revision } of await build.load(keys, stateTexts, 'acknowledged')) {
    const key = document['id'] ?? ''
    const loaded = entries.get(key)?.over
    if (loaded !== undefined && loaded.revision !== revision) throw new Outdated(declaration.name, key)
  }
}

function entryOf<Value>(entries: Map<FieldValue, Entry<Value>>, key: FieldValue): Entry<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const fresh = { over: undefined, document: undefined, value: undefined, changed: false, revision: 0n }
  entries.set(key, fresh)
  return fresh
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
function writesOf<Value>(projection: Projection<Value>, entries: ReadonlyMap<FieldValue, Entry<Value>>): Write[] {
  const writes: Write[] = []
  for (const [key, { over, document, value, changed, revision }] of entries) {
    if (!changed) continue
    const put = document ?? (value === undefined ? undefined : projection.toDocument(value))
    const guard = over === undefined ? { revision } : { revision, over }
    writes.push(put === undefined ? { remove: key, ...guard } : { put, ...guard })
  }
  return writes
}

function letter(event: StoredEvent, error: unknown): DeadLetter {
  return {
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    event: event.id,
    type: event.type,
    reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown',
  }
}
