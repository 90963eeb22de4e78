import type { StoredEvent } from '../../ports/event-store.ts'

/** How much of the newest events is kept for subscriptions that follow closely. */
const MAX_EVENTS = 1500
const MAX_BYTES = 32 * 1024 * 1024

type Chunk = {
  readonly before: number
  readonly head: number
  readonly events: readonly StoredEvent[]
  readonly bytes: number
}

/** The newest events in memory, without gaps, as they were committed. Whoever is further behind reads the file. */
export class Tail {
  readonly #chunks: Chunk[] = []
  #events = 0
  #bytes = 0

  add(chunk: Chunk): void {
    if (this.#chunks.at(-1)?.head !== chunk.before) this.clear()
    this.#chunks.push(chunk)
    this.#events += chunk.events.length
    this.#bytes += chunk.bytes
    while (this.#events > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#drop()
  }

  clear(): void {
    while (this.#chunks.length > 0) this.#drop()
  }

  /** The events behind a position, at most so many; undefined when they are not all here. */
  behind(position: number, most: number): readonly StoredEvent[] | undefined {
    const start = this.#chunks.findLastIndex((chunk) => chunk.before <= position)
    const first = this.#chunks[start]
    if (first === undefined || position >= first.head) return undefined
    const events = position === first.before ? first.events : first.events.slice(position - first.before)
    if (events.length >= most) return events.length === most ? events : events.slice(0, most)
    return this.#join([...events], start + 1, most)
  }

  #join(events: StoredEvent[], next: number, most: number): StoredEvent[] {
    for (const chunk of this.#chunks.slice(next)) {
      if (events.length >= most) break
      events.push(...chunk.events.slice(0, most - events.length))
    }
    return events
  }

  #drop(): void {
    const chunk = this.#chunks.shift()
    this.#events -= chunk?.events.length ?? 0
    this.#bytes -= chunk?.bytes ?? 0
  }
}
