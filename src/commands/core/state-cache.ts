import { LRUCache } from 'lru-cache'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import type { EventStore, Revision } from '../../stores/ports/event-store.ts'
import { loadStream, type LoadedStream } from '../../events/load-stream.ts'

/** A stream that has events, folded up to its last one: that one's id, revision, and time (ms since 1970). */
export type CachedState<State> = {
  readonly state: State
  readonly lastEventId: string
  readonly revision: Revision
  readonly lastEventAt: number
}

export type StateCacheLimits = {
  readonly maxStreams: number
  readonly maxBytes: number
  readonly maxStateBytes: number
}

const DEFAULT_LIMITS: StateCacheLimits = { maxStreams: 10_000, maxBytes: 16 * 2 ** 20, maxStateBytes: 2 ** 20 }

type StateCacheEntry = { readonly cached: CachedState<unknown>; readonly decider: unknown; readonly bytes: number }

/**
 * The states of the streams that this process has folded lately, so that the next command on one of them need not read
 * it again. They say how a stream was, not how it is: another process may have appended to it since. What is decided on
 * one holds when it is appended at its revision, or when the stream's last event is still the same.
 * Those that were used last stay, within bounds; a state of more than `bytesOfOne` is not kept.
 */
export class StateCache {
  readonly #entries: LRUCache<string, StateCacheEntry>

  constructor(private readonly limits: StateCacheLimits = DEFAULT_LIMITS) {
    const { maxStreams: max, maxBytes: maxSize, maxStateBytes: maxEntrySize } = limits
    this.#entries = new LRUCache({ max, maxSize, maxEntrySize, sizeCalculation: ({ bytes }) => bytes })
  }

  /** How a stream was when this process used it last, by this very decider. */
  find<State, Event extends DomainEvent>(
    stream: string,
    decider: Decider<State, Event>,
  ): CachedState<State> | undefined {
    const entry = this.#entries.get(stream)
    return entry === undefined || entry.decider !== decider ? undefined : (entry.cached as CachedState<State>)
  }

  /**
   * How a stream is. Of one that is known only the last event is read, and all of it where that is another one.
   * @param id of a wish whose events are looked for, where all of it is read
   * @throws as `load` does
   */
  async load<State, Event extends DomainEvent>(
    store: Pick<EventStore, 'read'>,
    stream: string,
    decider: Decider<State, Event>,
    id?: string,
  ): Promise<LoadedStream<State, Event>> {
    const known = this.find(stream, decider)
    if (known !== undefined) {
      const [last] = await store.read(stream, { last: 1 })
      if (last?.id === known.lastEventId && last.revision === known.revision)
        return { ...known, commandEvents: [], position: undefined }
    }
    const loaded = await loadStream(store, stream, decider, id)
    const { state, commandEvents, revision, lastEventId, lastEventAt } = loaded
    if (lastEventId === undefined || revision === 'none' || commandEvents.length > 0) this.invalidate(stream)
    else this.put(stream, decider, { state, revision, lastEventId, lastEventAt })
    return loaded
  }

  /** What reads no more than a stream's newest events does not know it, and reads little. */
  put<State, Event extends DomainEvent>(
    stream: string,
    decider: Decider<State, Event>,
    cached: CachedState<State>,
  ): void {
    if (decider.tail !== undefined) return this.invalidate(stream)
    const bytes = estimateBytes(cached.state, this.limits.maxStateBytes) + 2 * stream.length + OBJECT_BYTES
    this.#entries.set(stream, { cached, decider, bytes })
  }

  /** For one that this process changes in another way. */
  invalidate(stream: string): void {
    this.#entries.delete(stream)
  }
}

/** Bytes of an object or a list with nothing in it, and of each member's place. */
const OBJECT_BYTES = 32
const MEMBER_BYTES = 8

/** About how many bytes of memory a value takes; some number over `most` where it takes more than that. */
function estimateBytes(value: unknown, most: number): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  let bytes = OBJECT_BYTES
  for (const member of Object.values(value)) {
    bytes += MEMBER_BYTES + estimateBytes(member, most - bytes)
    if (bytes > most) break
  }
  return bytes
}
