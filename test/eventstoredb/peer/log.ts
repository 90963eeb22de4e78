import { EventEmitter } from 'node:events'

/** What a client proposed. Data and metadata stay the bytes that came. */
export type Proposed = {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** `position` is commit and prepare position alike, as a server without transactions has them. */
export type Recorded = Proposed & {
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  /** Ticks of 100 nanoseconds since 1970. */
  readonly created: string
}

/** A revision that the stream must have, exactly, or what it must be. */
export type Expected = bigint | 'no_stream' | 'stream_exists' | 'any'

export type Appended =
  | { readonly kind: 'success'; readonly revision: bigint; readonly position: bigint | undefined }
  | { readonly kind: 'wrong'; readonly actual: bigint | undefined }
  | { readonly kind: 'too large' }

/** Bytes of one append, over all its events: the server's default. */
export const MAX_APPEND = 1_048_576

const sizeOf = ({ data, metadata, type }: Proposed) => data.length + metadata.length + type.length

/**
 * The log of a single node, by the recorded answers: https://docs.kurrent.io describes the same rules for "optimistic
 * concurrency" and "idempotence". `EventEmitter` tells subscriptions of news.
 */
export class Log extends EventEmitter<{ appended: [] }> {
  readonly all: Recorded[] = []
  readonly #streams = new Map<string, Recorded[]>()
  /** What any and stream_exists recognise repeats by: memory only, so a restart forgets it. */
  #recent = new Map<string, Recorded>()
  #next = 0n

  constructor() {
    super()
    this.setMaxListeners(0)
  }

  stream(name: string): readonly Recorded[] | undefined {
    return this.#streams.get(name)
  }

  restarted(): void {
    this.#recent = new Map()
  }

  append(stream: string, expected: Expected, events: readonly Proposed[]): Appended {
    if (events.reduce((sum, event) => sum + sizeOf(event), 0) > MAX_APPEND) return { kind: 'too large' }
    const stored = this.#streams.get(stream) ?? []
    const current = BigInt(stored.length) - 1n
    const wrong: Appended = { kind: 'wrong', actual: current < 0n ? undefined : current }
    if (typeof expected === 'bigint' || expected === 'no_stream') {
      const revision = expected === 'no_stream' ? -1n : expected
      if (revision !== current) return repeatOf(stored, revision, events) ?? wrong
    } else {
      const known = this.#knownBy(stream, events)
      if (known !== 'new') return known ?? wrong
      if (expected === 'stream_exists' && current < 0n) return wrong
    }
    return this.#write(stream, stored, events)
  }

  /** By the cache: all of them known is a repeat, some of them is a wrong version even where any would do. */
  #knownBy(stream: string, events: readonly Proposed[]): Appended | 'new' | undefined {
    const known = events.map(({ id }) => this.#recent.get(`${stream}/${id}`))
    if (known.every((event) => event === undefined)) return 'new'
    const last = known.at(-1)
    if (last === undefined || known.includes(undefined)) return undefined
    return { kind: 'success', revision: last.revision, position: last.position }
  }

  #write(stream: string, stored: Recorded[], events: readonly Proposed[]): Appended {
    for (const event of events) {
      const revision = BigInt(stored.length)
      const created = String(BigInt(Date.now()) * 10_000n)
      const recorded = { ...event, stream, revision, position: this.#next, created }
      this.#next += BigInt(100 + sizeOf(event))
      stored.push(recorded)
      this.all.push(recorded)
      this.#recent.set(`${stream}/${event.id}`, recorded)
    }
    if (events.length > 0) this.#streams.set(stream, stored)
    if (events.length > 0) this.emit('appended')
    const last = stored.at(-1)
    // No events on a missing stream: answered 0, and the stream still is not there.
    return { kind: 'success', revision: last?.revision ?? 0n, position: last?.position }
  }

  /** Takes what another node has stored, as a follower does; what it has of its own is cut off. */
  follow(other: Log): void {
    const { length } = this.all
    let same = this.all[length - 1] === other.all[length - 1] ? length : 0
    while (same < this.all.length && this.all[same] === other.all[same]) same++
    if (same < this.all.length) {
      const kept = this.all.splice(0, same)
      this.all.splice(0)
      this.all.push(...kept)
      this.#streams.clear()
      for (const event of kept) this.#keep(event)
    }
    for (const event of other.all.slice(same)) {
      this.all.push(event)
      this.#keep(event)
    }
    this.#next = other.#next
    this.emit('appended')
  }

  #keep(event: Recorded): void {
    const stored = this.#streams.get(event.stream)
    if (stored === undefined) this.#streams.set(event.stream, [event])
    else stored.push(event)
  }

  /** The server's own backup is put back: it knows so many events, and of the others nothing. Take it down meanwhile. */
  setBack(events: number): void {
    const lost = this.all.splice(events)
    for (const { stream } of lost) this.#streams.get(stream)?.pop()
    for (const [stream, stored] of this.#streams) if (stored.length === 0) this.#streams.delete(stream)
    this.#next = lost[0]?.position ?? this.#next
  }

  /** Index in `all` of the first event at or behind a position. */
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

/** The same events at the same place are a repeat, whatever the stream has become since. */
function repeatOf(stored: readonly Recorded[], expected: bigint, events: readonly Proposed[]): Appended | undefined {
  const from = Number(expected + 1n)
  const there = stored.slice(from, from + events.length)
  const last = there.at(-1)
  if (last === undefined || there.length < events.length) return undefined
  if (!there.every(({ id }, index) => id === events[index]?.id)) return undefined
  return { kind: 'success', revision: last.revision, position: last.position }
}
