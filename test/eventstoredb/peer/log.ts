import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'

/** An event as the client sent it; data and metadata are unchanged bytes. */
export type ProposedEvent = {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** `position` is both commit and prepare position: they are equal without transactions. */
export type RecordedEvent = ProposedEvent & {
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  /** Ticks of 100 nanoseconds since 1970. */
  readonly created: string
}

/** The revision that the stream must have, or the state that it must be in. */
export type ExpectedRevision = bigint | 'no_stream' | 'stream_exists' | 'any'

export type AppendResult =
  | { readonly kind: 'success'; readonly revision: bigint; readonly position: bigint | undefined }
  | { readonly kind: 'wrong'; readonly actual: bigint | undefined }
  | { readonly kind: 'too large' }
  | { readonly kind: 'stream deleted' }

/** A stream's metadata, as far as the peer heeds it: the most events that are visible, and the first visible revision. */
type StreamMetadata = { readonly $maxCount?: number; readonly $tb?: number }

/** The revision of the event of a permanent delete, 2^63 - 1. */
const TOMBSTONE_REVISION = 9_223_372_036_854_775_807n
const EMPTY = new Uint8Array()

/** The most bytes of one append, for all its events: the server's default. */
export const MAX_APPEND = 1_048_576

const sizeOf = ({ data, metadata, type }: ProposedEvent) => data.length + metadata.length + type.length

/**
 * The log of a node. It follows the recorded responses and the rules in https://docs.kurrent.io for optimistic concurrency and
 * idempotence. It emits `appended` for subscriptions.
 */
export class Log extends EventEmitter<{ appended: [] }> {
  readonly all: RecordedEvent[] = []
  readonly #streams = new Map<string, RecordedEvent[]>()
  /** The latest metadata of each stream. */
  readonly #metadata = new Map<string, StreamMetadata>()
  /** Streams that were deleted and have no event since, and streams deleted permanently. */
  readonly #deleted = new Set<string>()
  readonly #tombstones = new Set<string>()
  /** Appends with `any` and `stream_exists` recognise repeats by this map, which a restart clears. */
  #recent = new Map<string, RecordedEvent>()
  #next = 0n

  constructor() {
    super()
    this.setMaxListeners(0)
  }

  /** All events of a stream, also those that were removed by hand. */
  stream(name: string): readonly RecordedEvent[] | undefined {
    return this.#streams.get(name)
  }

  /** The first revision that a read of the stream returns: a deletion and the metadata hide earlier events, until a scavenge. */
  firstVisible(name: string): number {
    const length = this.#streams.get(name)?.length ?? 0
    if (this.#deleted.has(name)) return length
    const { $maxCount: maxCount = length, $tb: truncateBefore = 0 } = this.#metadata.get(name) ?? {}
    return Math.max(truncateBefore, length - maxCount)
  }

  isDeleted(name: string): boolean {
    return this.#deleted.has(name)
  }

  isTombstone(name: string): boolean {
    return this.#tombstones.has(name)
  }

  /** A soft delete: reads do not find the stream any more; later appends continue its revisions. */
  delete(name: string): void {
    this.#deleted.add(name)
  }

  /** A permanent delete, which is an event of the stream in $all. */
  tombstone(name: string): void {
    this.#tombstones.add(name)
    const event = { id: randomUUID(), type: '$streamDeleted', contentType: 'application/json' }
    this.all.push(this.#record(name, TOMBSTONE_REVISION, { ...event, data: EMPTY, metadata: EMPTY }))
    this.emit('appended')
  }

  clearCaches(): void {
    this.#recent = new Map()
  }

  append(stream: string, expected: ExpectedRevision, events: readonly ProposedEvent[]): AppendResult {
    if (events.reduce((sum, event) => sum + sizeOf(event), 0) > MAX_APPEND) return { kind: 'too large' }
    if (this.#tombstones.has(stream)) return { kind: 'stream deleted' }
    const stored = this.#streams.get(stream) ?? []
    const current = BigInt(stored.length) - 1n
    const wrong: AppendResult = { kind: 'wrong', actual: current < 0n ? undefined : current }
    if (typeof expected === 'bigint' || expected === 'no_stream') {
      const revision = expected === 'no_stream' ? -1n : expected
      if (revision !== current) {
        const repeat = repeatOf(stored, this.firstVisible(stream), revision, events)
        if (repeat !== undefined) return repeat
        if (expected !== 'no_stream' || !this.#deleted.has(stream)) return wrong
      }
    } else {
      const repeat = this.#findRepeat(stream, events)
      if (repeat !== 'new') return repeat ?? wrong
      if (expected === 'stream_exists' && current < 0n) return wrong
    }
    return this.#write(stream, stored, events)
  }

  /** If all events are recent, the append is a repeat; if only some are, it is a wrong version, even with `any`. */
  #findRepeat(stream: string, events: readonly ProposedEvent[]): AppendResult | 'new' | undefined {
    const recent = events.map(({ id }) => this.#recent.get(`${stream}/${id}`))
    if (recent.every((event) => event === undefined)) return 'new'
    const last = recent.at(-1)
    if (last === undefined || recent.includes(undefined)) return undefined
    return { kind: 'success', revision: last.revision, position: last.position }
  }

  #write(stream: string, stored: RecordedEvent[], events: readonly ProposedEvent[]): AppendResult {
    if (this.#deleted.delete(stream)) this.#metadata.set(stream, { $tb: stored.length })
    for (const event of events) {
      const recorded = this.#record(stream, BigInt(stored.length), event)
      stored.push(recorded)
      this.all.push(recorded)
      this.#recent.set(`${stream}/${event.id}`, recorded)
      if (event.type === '$metadata') this.#metadata.set(stream.slice('$$'.length), metadataOf(event))
    }
    if (events.length > 0) this.#streams.set(stream, stored)
    if (events.length > 0) this.emit('appended')
    const last = stored.at(-1)
    // An append without events to a missing stream returns revision 0 and does not create the stream.
    return { kind: 'success', revision: last?.revision ?? 0n, position: last?.position }
  }

  #record(stream: string, revision: bigint, event: ProposedEvent): RecordedEvent {
    const created = String(BigInt(Date.now()) * 10_000n)
    const recorded = { ...event, stream, revision, position: this.#next, created }
    this.#next += BigInt(100 + sizeOf(event))
    return recorded
  }

  /** Copies another node's log, as a follower does; events that the other does not have are truncated. */
  follow(other: Log): void {
    const { length } = this.all
    let commonLength = this.all[length - 1] === other.all[length - 1] ? length : 0
    while (commonLength < this.all.length && this.all[commonLength] === other.all[commonLength]) commonLength++
    if (commonLength < this.all.length) {
      const kept = this.all.splice(0, commonLength)
      this.all.splice(0)
      this.all.push(...kept)
      this.#streams.clear()
      for (const event of kept) this.#addToStream(event)
    }
    for (const event of other.all.slice(commonLength)) {
      this.all.push(event)
      this.#addToStream(event)
    }
    this.#next = other.#next
    this.emit('appended')
  }

  #addToStream(event: RecordedEvent): void {
    const stored = this.#streams.get(event.stream)
    if (stored === undefined) this.#streams.set(event.stream, [event])
    else stored.push(event)
  }

  /** Restores the log to its first `events` events, as from a backup. Call it while the peer is down. */
  truncate(events: number): void {
    const lost = this.all.splice(events)
    for (const { stream } of lost) this.#streams.get(stream)?.pop()
    for (const [stream, stored] of this.#streams) if (stored.length === 0) this.#streams.delete(stream)
    this.#next = lost[0]?.position ?? this.#next
  }

  /** Index in `all` of the first event at or after a position. */
  indexOf(position: bigint): number {
    let [low, high] = [0, this.all.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.all[middle]?.position ?? 0n) < position) low = middle + 1
      else high = middle
    }
    return low
  }
}

const metadataOf = ({ data }: ProposedEvent) => JSON.parse(Buffer.from(data).toString('utf8')) as StreamMetadata

/**
 * The same events at the same revisions are a repeat, even if the stream has later events. The server looks up the position of the
 * last one by a read of the stream, which does not find events that were removed by hand.
 */
function repeatOf(
  stored: readonly RecordedEvent[],
  firstVisible: number,
  expected: bigint,
  events: readonly ProposedEvent[],
): AppendResult | undefined {
  const from = Number(expected + 1n)
  const found = stored.slice(from, from + events.length)
  const last = found.at(-1)
  if (last === undefined || found.length < events.length) return undefined
  if (!found.every(({ id }, index) => id === events[index]?.id)) return undefined
  const position = Number(last.revision) >= firstVisible ? last.position : undefined
  return { kind: 'success', revision: last.revision, position }
}
