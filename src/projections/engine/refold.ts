import { comparePositions, type EventStore, type Position, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { FieldValue, Write } from '../../stores/ports/read-store.ts'
import { foldBatch, type Folded } from './fold-batch.ts'
import type { Projection } from './read-model.ts'

/** The streams whose documents are folded together with those of these streams. */
export function together<Value>({ together: of }: Projection<Value>, streams: readonly string[]): string[] {
  return [...new Set(streams.flatMap((stream) => of?.(stream) ?? [stream]))]
}

/**
 * Folds streams from their beginning up to a position: what was set aside is not guessed from documents that stood still.
 * @param streams with all that belong together
 * @returns writes that hold against everything written before that position, and letters for what still can't be folded
 */
export async function refold<Value>(
  projection: Projection<Value>,
  store: EventStore,
  streams: readonly string[],
  until: Position,
): Promise<Folded> {
  const read = await Promise.all(streams.map((stream) => store.read(stream)))
  const events = read
    .flat()
    .filter(({ position }) => comparePositions(position, until) <= 0)
    .sort((a, b) => comparePositions(a.position, b.position))
  const { writes, letters } = await foldBatch(projection, { load: async () => [] }, events, new Set())
  const keys = new Set(events.map((event) => keyOrNone(projection, event)).filter((key) => key !== undefined))
  return { writes: [...replacing(writes, keys, until.commit)], letters }
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
