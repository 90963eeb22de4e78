import { comparePositions, OutcomeUnknown, StoreUnavailable, type From, type EventStore } from '../ports/event-store.ts'
import { Presence, type Looks } from './presence.ts'
import { UnansweredAppends } from './unanswered-appends.ts'

/** A log on a server, whose calls fail at once while it is away. */
export class GuardedLog {
  /** The same log; its calls fail at once while it is away. Subscriptions go on trying by themselves. */
  readonly store: EventStore
  readonly #presence: Presence
  #newest: From = 'start'

  /** @param server as it is called in what is told */
  constructor(
    private readonly log: EventStore,
    private readonly server: string,
    looks?: Looks,
  ) {
    const head = async () => this.#saw(await log.head())
    const heardAt = () => log.heardAt?.() ?? Number.NEGATIVE_INFINITY
    this.#presence = new Presence({ server, head, heardAt }, looks)
    this.store = this.#watched()
  }

  /** The newest position that this process knows of. */
  get newest(): From {
    return this.#newest
  }

  /** When it last answered anything, in milliseconds of the monotonic clock. */
  get answeredAt(): number {
    return this.#presence.answeredAt
  }

  /** Whether it is away, for who has met a failure. */
  isAway(): Promise<boolean> {
    return this.#presence.isAway()
  }

  stop(): void {
    this.#presence.stop()
  }

  #watched(): EventStore {
    const { log } = this
    const appends = new UnansweredAppends(this.server)
    const ask: Presence['ask'] = (call, left) => this.#presence.ask(call, left)
    return {
      atomicMany: log.atomicMany,
      fenceDelay: log.fenceDelay,
      append: (...asked) => appends.pass(() => ask(async () => this.#saw(await log.append(...asked)), maybeStored)),
      appendMany: (...asked) =>
        appends.pass(() =>
          ask(async () => (await log.appendMany(...asked)).map((position) => this.#saw(position)), maybeStored),
        ),
      read: (...asked) => ask(() => log.read(...asked)),
      readAll: (...asked) => this.#readAll(...asked),
      subscribe: (...asked) => log.subscribe(...asked),
      head: () => this.#head(),
      eventAt: (position) => ask(() => log.eventAt(position)),
      // Both may be known here: that they are told says nothing about the log.
      identity: () => log.identity(),
      refusal: () => log.refusal(),
      closed: () => ask(() => log.closed()),
      close: () => log.close(),
    }
  }

  /** Fails where the log is away, and not for a connection that was lost and is there again. */
  async #head(): Promise<From> {
    const ask = () => this.#presence.ask(async () => this.#saw(await this.log.head()))
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || (await this.isAway())) throw error
      return ask()
    }
  }

  async *#readAll(...asked: Parameters<EventStore['readAll']>) {
    const events = this.log.readAll(...asked)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#presence.ask(() => events.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      // One that hangs ends when the log is back.
      events.return?.().catch(() => undefined)
    }
  }

  #saw<Position extends From>(position: Position): Position {
    if (comparePositions(position, this.#newest) > 0) this.#newest = position
    return position
  }
}

const maybeStored = (fault: StoreUnavailable): Error =>
  new OutcomeUnknown(`${fault.message}; an append that was under way may be stored or not`, { cause: fault })
