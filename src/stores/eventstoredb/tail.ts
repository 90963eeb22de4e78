import { comparePositions, type From, type StoredEvent } from '../ports/event-store.ts'

/** How much of the newest events is kept for subscriptions that follow closely. */
const MAX_EVENTS = 5_000
/** So many times more are kept before the oldest go: moving the others costs something. */
const SLACK = 1.25
/** Positions of EventStoreDB count bytes of its log. */
const MAX_BYTES = 32n * 1024n * 1024n

/** The newest events in memory, all of them behind `start`. Whoever is further behind reads the server. */
export class Tail {
  #events: StoredEvent[] = []
  #start: From
  #end: From

  constructor(start: From) {
    this.#start = start
    this.#end = start
  }

  /** How far the log has been heard. */
  get end(): From {
    return this.#end
  }

  /** An event that was heard before is left out. */
  add(event: StoredEvent): void {
    if (comparePositions(event.position, this.#end) <= 0) return
    this.#events.push(event)
    this.#end = event.position
  }

  /** Forgets the oldest events; call it after adding some. */
  trim(): void {
    const newest = this.#events.at(-1)?.position.commit ?? 0n
    const isTooOld = ({ position }: StoredEvent) => newest - position.commit > MAX_BYTES
    let gone = this.#events.length > MAX_EVENTS * SLACK ? this.#events.length - MAX_EVENTS : 0
    for (let event = this.#events[gone]; event !== undefined && isTooOld(event); event = this.#events[gone]) gone++
    if (gone === 0) return
    this.#start = this.#events[gone - 1]?.position ?? this.#start
    this.#events = this.#events.slice(gone)
  }

  covers(position: From): boolean {
    return comparePositions(position, this.#start) >= 0
  }

  /** At most so many events behind a position that it covers. */
  behind(position: From, most: number): readonly StoredEvent[] {
    const from = this.#indexBehind(position)
    return this.#events.slice(from, from + most)
  }

  #indexBehind(position: From): number {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const event = this.#events[middle]
      if (event !== undefined && comparePositions(event.position, position) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
