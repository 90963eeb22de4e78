import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Document, FieldValue, Write } from '../../stores/ports/read-store.ts'
import { foldAgain, type Folded } from './fold-batch.ts'
import type { Projection } from './read-model.ts'
import { Tally } from './tally.ts'

/** The streams whose documents are folded together with those of these streams. */
export function together<Value>({ together: of }: Projection<Value>, streams: readonly string[]): string[] {
  return [...new Set(streams.flatMap((stream) => of?.(stream) ?? [stream]))]
}

/**
 * Folds streams from their beginning up to a request to do so: what was set aside is not guessed from documents that stood
 * still. Where events are numbered, the request counts as one of each document that it makes anew.
 * @param streams with all that belong together
 * @returns writes that hold against everything written before that position, and letters for what still can't be folded
 */
export async function refold<Value>(
  projection: Projection<Value>,
  { store, build }: { readonly store: EventStore; readonly build: Pick<Build, 'load'> },
  streams: readonly string[],
  request: StoredEvent,
): Promise<Folded> {
  const until = request.position
  const read = await Promise.all(streams.map((stream) => store.read(stream)))
  const events = read
    .flat()
    .filter(({ position }) => comparePositions(position, until) <= 0)
    .sort((a, b) => comparePositions(a.position, b.position))
  const { writes, letters } = await foldAgain(projection, events)
  const keys = new Set(events.map((event) => keyOrNone(projection, event)).filter((key) => key !== undefined))
  const replaced = [...replacing(writes, keys, until.commit)]
  return { writes: await numberedAnew(projection, build, replaced, request), letters }
}

async function numberedAnew<Value>(
  { declaration, tallied }: Projection<Value>,
  build: Pick<Build, 'load'>,
  writes: readonly Write[],
  request: StoredEvent,
): Promise<Write[]> {
  if (tallied === undefined) return [...writes]
  const made = writes.flatMap((write) => ('put' in write ? [write.put] : []))
  const tally = await Tally.load(declaration, build, [request], new Set(made.map((one) => tallied.accountOf(one))))
  if (tally === undefined) return [...writes]
  const stored = await build.load(made.map(({ id = '' }) => id))
  const before = new Map(stored.map(({ document }) => [document['id'], document]))
  const renumbered = (put: Document): Document =>
    tallied.renumbered(put, before.get(put['id']), tally.next(tallied.accountOf(put), request))
  const numbered = writes.map((write) => ('put' in write ? { ...write, put: renumbered(write.put) } : write))
  return [...numbered, ...tally.writes()]
}

/** Where nobody can tell an event's document, it has made none. */
function keyOrNone<Value>(projection: Projection<Value>, event: StoredEvent): FieldValue | undefined {
  try {
    return projection.keyOf(event)
  } catch {
    return undefined
  }
}

/** What these streams make now, and the removal of what they made once. */
function* replacing(writes: readonly Write[], keys: Set<FieldValue>, revision: bigint): Iterable<Write> {
  for (const write of writes) {
    if (!('put' in write)) continue
    keys.delete(write.put['id'] ?? '')
    yield { put: write.put, revision }
  }
  for (const key of keys) yield { remove: key, revision }
}
