import { LRUCache } from 'lru-cache'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import type { EventStore, Revision } from '../../stores/ports/event-store.ts'
import { load, type Loaded } from '../../events/load.ts'

/** A stream that has events, folded up to its last one: that one's id, revision, and time (ms since 1970). */
export type Folded<State> = {
  readonly state: State
  readonly last: string
  readonly revision: Revision
  readonly at: number
}

export type Bounds = { readonly streams: number; readonly bytes: number; readonly bytesOfOne: number }

const BOUNDS: Bounds = { streams: 10_000, bytes: 16 * 2 ** 20, bytesOfOne: 2 ** 20 }

type Kept = { readonly folded: Folded<unknown>; readonly decider: unknown; readonly bytes: number }

/**
 * The states of the streams that this process has folded lately, so that the next command on one of them need not read
 * it again. They say how a stream was, not how it is: another process may have appended to it since. What is decided on
 * one holds when it is appended at its revision, or when the stream's last event is still the same.
 * Those that were used last stay, within bounds; a state of more than `bytesOfOne` is not kept.
 */
export class FoldedStates {
  readonly #kept: LRUCache<string, Kept>

  constructor(private readonly bounds: Bounds = BOUNDS) {
    const { streams: max, bytes: maxSize, bytesOfOne: maxEntrySize } = bounds
    this.#kept = new LRUCache({ max, maxSize, maxEntrySize, sizeCalculation: ({ bytes }) => bytes })
  }

  /** How a stream was when this process used it last, by this very decider. */
  find<State, Event extends DomainEvent>(stream: string, decider: Decider<State, Event>): Folded<State> | undefined {
    const kept = this.#kept.get(stream)
    return kept === undefined || kept.decider !== decider ? undefined : (kept.folded as Folded<State>)
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
  ): Promise<Loaded<State, Event>> {
    const known = this.find(stream, decider)
    if (known !== undefined) {
      const [last] = await store.read(stream, { last: 1 })
      if (last?.id === known.last && last.revision === known.revision) return { ...known, own: [], position: undefined }
    }
    const loaded = await load(store, stream, decider, id)
    const { state, own, revision, last, at } = loaded
    if (last === undefined || revision === 'none' || own.length > 0) this.forget(stream)
    else this.keep(stream, decider, { state, revision, last, at })
    return loaded
  }

  /** What reads no more than a stream's newest events does not know it, and reads little. */
  keep<State, Event extends DomainEvent>(stream: string, decider: Decider<State, Event>, folded: Folded<State>): void {
    if (decider.newest !== undefined) return this.forget(stream)
    const bytes = weightOf(folded.state, this.bounds.bytesOfOne) + 2 * stream.length + OBJECT
    this.#kept.set(stream, { folded, decider, bytes })
  }

  /** For one that this process changes in another way. */
  forget(stream: string): void {
    this.#kept.delete(stream)
  }
}

/** Bytes of an object or a list with nothing in it, and of each member's place. */
const OBJECT = 32
const MEMBER = 8

/** About how many bytes of memory a value takes; some number over `most` where it takes more than that. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return OBJECT + 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  let bytes = OBJECT
  for (const member of Object.values(value)) {
    bytes += MEMBER + weightOf(member, most - bytes)
    if (bytes > most) break
  }
  return bytes
}
