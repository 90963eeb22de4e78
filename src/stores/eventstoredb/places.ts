import { StoreUnavailable, type From, type Position, type StoredEvent } from '../ports/event-store.ts'
import { isUntold } from './decoding.ts'
import { SharedAnswer } from '../log/shared-answer.ts'

/** Reads all events behind a position, in their order, up to the newest at the time. */
export type ReadOn = (from: From) => AsyncIterable<StoredEvent>

/**
 * Where each event stands in the order of all, for servers before 22.6: they do not tell it of events that were read by
 * their stream. The log is read once, then what is new; each event takes about 200 bytes of memory. On other servers
 * nothing is read.
 */
export class Places {
  readonly #places = new Map<string, Position>()
  #read: From = 'start'
  readonly #upToDate: SharedAnswer<void>

  constructor(private readonly readOn: ReadOn) {
    this.#upToDate = new SharedAnswer(() => this.#readNew())
  }

  /** The same events, each with its place. @throws StoreUnavailable */
  async of(events: StoredEvent[]): Promise<StoredEvent[]> {
    const untold = events.filter(({ position }) => isUntold(position))
    if (untold.length === 0) return events
    if (untold.some((event) => !this.#places.has(nameOf(event)))) await this.#upToDate.get()
    return events.map((event) => (isUntold(event.position) ? { ...event, position: this.#placeOf(event) } : event))
  }

  #placeOf(event: StoredEvent): Position {
    const place = this.#places.get(nameOf(event))
    if (place !== undefined) return place
    throw new StoreUnavailable(`EventStoreDB: ${nameOf(event)} was read by its stream, but is not among all events`)
  }

  async #readNew(): Promise<void> {
    for await (const event of this.readOn(this.#read)) {
      this.#places.set(nameOf(event), event.position)
      this.#read = event.position
    }
  }
}

const nameOf = ({ stream, revision }: StoredEvent) => `${revision}@${stream}`
