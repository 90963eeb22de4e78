import { StoreUnavailable, type EventStore, type From, type Subscription } from '../ports/event-store.ts'

/**
 * A store whose calls are refused from the moment on at which it is closed. Closing waits for the appends under way, ends the
 * subscriptions, and closes the store then.
 * @param name for people
 */
export function withClosing<Head extends From | Promise<From>>(
  store: EventStore<Head>,
  name: string,
): EventStore<Head> {
  const appends = new UnderWay()
  const subscriptions = new Followed()
  let closing: Promise<void> | undefined

  function mustBeOpen(): void {
    if (closing !== undefined) throw new StoreUnavailable(`${name} is closed`)
  }

  async function shut(): Promise<void> {
    await appends.over()
    subscriptions.stop()
    await store.close()
  }

  return {
    ...store,
    async append(...asked) {
      mustBeOpen()
      return appends.follow(store.append(...asked))
    },
    async appendMany(...asked) {
      mustBeOpen()
      return appends.follow(store.appendMany(...asked))
    },
    async read(...asked) {
      mustBeOpen()
      return store.read(...asked)
    },
    async *readAll(...asked) {
      mustBeOpen()
      yield* store.readAll(...asked)
    },
    subscribe(...asked) {
      mustBeOpen()
      return subscriptions.followed(store.subscribe(...asked))
    },
    head() {
      mustBeOpen()
      return store.head()
    },
    async eventAt(position) {
      mustBeOpen()
      return store.eventAt(position)
    },
    async identity() {
      mustBeOpen()
      return store.identity()
    },
    async closed() {
      mustBeOpen()
      return store.closed()
    },
    async refusal() {
      mustBeOpen()
      return store.refusal()
    },
    close: () => (closing ??= shut()),
  }
}

/** Calls that closing waits for; each has an answer of its own to its caller. */
class UnderWay {
  #count = 0
  #over: (() => void) | undefined

  follow<Result>(call: Promise<Result>): Promise<Result> {
    this.#count++
    const ended = () => {
      if (--this.#count === 0) this.#over?.()
    }
    call.then(ended, ended)
    return call
  }

  over(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((over) => (this.#over = over))
  }
}

/**
 * The subscriptions that are being iterated. What has not begun is nobody's to stop, and what has ended nobody's to keep: a
 * service subscribes again after every interruption, for as long as it runs.
 */
class Followed {
  readonly #subscriptions = new Set<Subscription>()
  #isStopped = false

  followed(subscription: Subscription): Subscription {
    const iterated = () => this.#iterated(subscription)
    return { stop: () => subscription.stop(), [Symbol.asyncIterator]: iterated }
  }

  /** For good: what begins later ends at once. */
  stop(): void {
    this.#isStopped = true
    for (const subscription of this.#subscriptions) subscription.stop()
  }

  async *#iterated(subscription: Subscription) {
    if (this.#isStopped) subscription.stop()
    this.#subscriptions.add(subscription)
    try {
      yield* subscription
    } finally {
      this.#subscriptions.delete(subscription)
    }
  }
}
