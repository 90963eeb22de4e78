import type { StoredEvent } from '../stores/event-store.ts'
import type { Build, DeadLetter, FieldValue, Write } from '../stores/read-store.ts'
import type { Projection } from './projection.ts'

export type Folded = { readonly writes: Write[]; readonly letters: DeadLetter[] }

type Entry<Value> = { before: Value | undefined; value: Value | undefined; revision: bigint }

/**
 * Loads the documents that a run of events touches, folds, and says what to write. An event that can't be folded sets
 * its stream aside, with everything that comes after it there; other streams go on.
 * @param parked streams set aside so far
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: Build,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<Folded> {
  const entries = await loadEntries(projection, build, events)
  const letters: DeadLetter[] = []
  const aside = new Set(parked)
  for (const event of events) {
    const key = projection.keyOf(event)
    if (key === undefined) continue
    const entry = entryOf(entries, key)
    try {
      if (aside.has(event.stream)) throw new Error('an earlier event of this stream was set aside')
      entry.value = projection.apply(entry.value, event)
      entry.revision = event.position.commit
    } catch (error) {
      aside.add(event.stream)
      letters.push(letter(event, error))
    }
  }
  return { writes: writesOf(projection, entries), letters }
}

async function loadEntries<Value>(projection: Projection<Value>, build: Build, events: readonly StoredEvent[]) {
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
  for (const { document, revision } of await build.load(wanted)) {
    const value = projection.fromDocument(document)
    const key = document['id']
    if (key !== undefined) entries.set(key, { before: value, value, revision })
  }
  return entries
}

function entryOf<Value>(entries: Map<FieldValue, Entry<Value>>, key: FieldValue): Entry<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const fresh = { before: undefined, value: undefined, revision: 0n }
  entries.set(key, fresh)
  return fresh
}

function writesOf<Value>(projection: Projection<Value>, entries: ReadonlyMap<FieldValue, Entry<Value>>): Write[] {
  const writes: Write[] = []
  for (const [key, { before, value, revision }] of entries) {
    if (value === before) continue
    writes.push(value === undefined ? { remove: key, revision } : { put: projection.toDocument(value), revision })
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
