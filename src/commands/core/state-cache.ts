import { LRUCache } from 'lru-cache'
import type { Fold, DomainEvent } from '../../domain/fold.ts'
import type { EventStore, Revision } from '../../stores/ports/event-store.ts'
import { loadStream, type LoadedStream } from '../../events/load-stream.ts'

/** The state of a non-empty stream up to and including its last event. `lastEventAt` is in milliseconds since 1970. */
type CachedState<State> = {
  readonly state: State
  readonly lastEventId: string
  readonly revision: Revision
  readonly lastEventAt: number
}

type StateCacheLimits = {
  readonly maxStreams: number
  readonly maxBytes: number
  readonly maxStateBytes: number
}

const DEFAULT_LIMITS: StateCacheLimits = { maxStreams: 10_000, maxBytes: 16 * 2 ** 20, maxStateBytes: 2 ** 20 }

type StateCacheEntry = { readonly cached: CachedState<unknown>; readonly fold: unknown; readonly bytes: number }

/**
 * An LRU cache of stream states, so that the next command on a stream need not read it. A cached state may be outdated,
 * because another process may have appended since: a decision based on it is valid only if it is appended at the cached
 * revision or the stream's last event is still the same. States larger than `maxStateBytes` are not cached.
 */
export class StateCache {
  readonly #entries: LRUCache<string, StateCacheEntry>

  constructor(private readonly limits: StateCacheLimits = DEFAULT_LIMITS) {
    const { maxStreams: max, maxBytes: maxSize, maxStateBytes: maxEntrySize } = limits
    this.#entries = new LRUCache({ max, maxSize, maxEntrySize, sizeCalculation: ({ bytes }) => bytes })
  }

  /** The last known state, which may be outdated. */
  find<State, Event extends DomainEvent>(stream: string, fold: Fold<State, Event>): CachedState<State> | undefined {
    const entry = this.#entries.get(stream)
    return entry === undefined || entry.fold !== fold ? undefined : (entry.cached as CachedState<State>)
  }

  /**
   * The current state. If the stream is cached, only its last event is read, and the whole stream only if that has
   * changed.
   * @param id command id whose events to look for if the whole stream is read
   * @throws StoreUnavailable; UnsupportedEventVersion, InvalidEventPayload for an event that can't be decoded here
   */
  async load<State, Event extends DomainEvent>(
    store: Pick<EventStore, 'readStream'>,
    stream: string,
    fold: Fold<State, Event>,
    id?: string,
  ): Promise<LoadedStream<State, Event>> {
    const cached = this.find(stream, fold)
    if (cached !== undefined) {
      const [last] = await store.readStream(stream, { last: 1 })
      if (last?.id === cached.lastEventId && last.revision === cached.revision)
        return { ...cached, commandEvents: [], position: undefined }
    }
    const loaded = await loadStream(store, stream, fold, id)
    const { state, commandEvents, revision, lastEventId, lastEventAt } = loaded
    if (lastEventId === undefined || revision === 'none' || commandEvents.length > 0) this.invalidate(stream)
    else this.put(stream, fold, { state, revision, lastEventId, lastEventAt })
    return loaded
  }

  /** A fold with a `tail` is not cached: it reads only a few events and does not know the whole stream. */
  put<State, Event extends DomainEvent>(stream: string, fold: Fold<State, Event>, cached: CachedState<State>): void {
    if (fold.tail !== undefined) return this.invalidate(stream)
    const bytes = estimateBytes(cached.state, this.limits.maxStateBytes) + 2 * stream.length + OBJECT_BYTES
    this.#entries.set(stream, { cached, fold, bytes })
  }

  /** Call it when the stream is changed by other means than `handle`. */
  invalidate(stream: string): void {
    this.#entries.delete(stream)
  }
}

/** Approximate bytes of an empty object or array, and of each member. */
const OBJECT_BYTES = 32
const MEMBER_BYTES = 8

/** Approximate memory use of a value in bytes; stops counting at some number above `maxBytes`. */
function estimateBytes(value: unknown, maxBytes: number): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  let bytes = OBJECT_BYTES
  for (const member of Object.values(value)) {
    bytes += MEMBER_BYTES + estimateBytes(member, maxBytes - bytes)
    if (bytes > maxBytes) break
  }
  return bytes
}
