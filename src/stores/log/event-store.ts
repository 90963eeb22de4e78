import { randomUUID } from 'node:crypto'
import { LOG_STREAM } from '../../domain/installation/log-lifecycle.ts'
import {
  StoreUnavailable,
  WrongRevision,
  type Append,
  type EventLog,
  type EventStore,
  type PositionOrStart,
  type NewEvent,
  type Subscription,
} from '../ports/event-store.ts'
import { validateStorable } from './event-serialization.ts'
import { readClosedReason } from './fence.ts'

/** The log's first event, which gives it its identity. */
export function createLogCreatedEvent(): NewEvent {
  const metadata = { actor: 'system', via: 'store', schema: '1', at: new Date().toISOString() }
  return { id: randomUUID(), type: 'LogCreated', data: { identity: randomUUID() }, metadata }
}

/** Found once, and made where a log has none and may. */
class LogIdentity {
  #found: Promise<string> | undefined
  #isKnown = false

  /** @param name of the log, for people */
  constructor(
    private readonly store: Pick<EventLog, 'read' | 'append'>,
    private readonly name: string,
    private readonly mayMake: boolean,
  ) {}

  get isKnown(): boolean {
    return this.#isKnown
  }

  /** @throws StoreUnavailable, OutcomeUnknown */
  get(): Promise<string> {
    this.#found ??= this.#findOrMake().catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  async #findOrMake(): Promise<string> {
    for (;;) {
      const [first] = await this.store.read(LOG_STREAM)
      if (first !== undefined) return this.#identityOf(first)
      if (!this.mayMake) throw new StoreUnavailable(`${this.name} has no LogCreated`)
      const event = createLogCreatedEvent()
      try {
        await this.store.append(LOG_STREAM, 'none', [event])
        return this.#identityOf(event)
      } catch (error) {
        // Another process was first: its log it is.
        if (!(error instanceof WrongRevision)) throw error
      }
    }
  }

  #identityOf({ type, data }: NewEvent): string {
    const { identity } = data
    this.#isKnown = type === 'LogCreated' && typeof identity === 'string'
    if (this.#isKnown) return String(identity)
    throw new StoreUnavailable(
      `${this.name}: stream ${LOG_STREAM} does not begin with LogCreated: it is another application's`,
    )
  }
}

/**
 * A store whose calls are refused from the moment on at which it is closed. Closing waits for the appends under way, ends the
 * subscriptions, and closes the store then.
 * @param name for people
 */
function withClosing<Head extends PositionOrStart | Promise<PositionOrStart>>(
  store: EventStore<Head>,
  name: string,
): EventStore<Head> {
  const appends = new PendingCalls()
  const subscriptions = new ActiveSubscriptions()
  let closing: Promise<void> | undefined

  function mustBeOpen(): void {
    if (closing !== undefined) throw new StoreUnavailable(`${name} is closed`)
  }

  async function shut(): Promise<void> {
    await appends.drained()
    subscriptions.stop()
    await store.close()
  }

  return {
    ...store,
    async append(...asked) {
      mustBeOpen()
      return appends.track(store.append(...asked))
    },
    async appendMany(...asked) {
      mustBeOpen()
      return appends.track(store.appendMany(...asked))
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
      return subscriptions.track(store.subscribe(...asked))
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
    async closedReason() {
      mustBeOpen()
      return store.closedReason()
    },
    async diskErrorMessage() {
      mustBeOpen()
      return store.diskErrorMessage()
    },
    close: () => (closing ??= shut()),
  }
}

/** Calls that closing waits for; each has an answer of its own to its caller. */
class PendingCalls {
  #count = 0
  #drained: (() => void) | undefined

  track<Result>(call: Promise<Result>): Promise<Result> {
    this.#count++
    const ended = () => {
      if (--this.#count === 0) this.#drained?.()
    }
    call.then(ended, ended)
    return call
  }

  drained(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((over) => (this.#drained = over))
  }
}

/**
 * The subscriptions that are being iterated. What has not begun is nobody's to stop, and what has ended nobody's to keep: a
 * service subscribes again after every interruption, for as long as it runs.
 */
class ActiveSubscriptions {
  readonly #subscriptions = new Set<Subscription>()
  #isStopped = false

  track(subscription: Subscription): Subscription {
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

/** What an engine's adapter says of itself. */
export type EventLogDescription = {
  /** For people. */
  readonly name: string
  /** When the log gets its first event: a file is made with it, a server's log by the first who appends. */
  readonly firstEventWritten: 'with its file' | 'at its first append'
  /** Its first event is copied into it, and whatever it says of itself it takes appends. */
  readonly filling: boolean
  readonly fenceDelayMs: number
  /** Told of each append of this process, before its caller is. */
  readonly appended?: (stream: string) => void
  readonly diskErrorMessage?: () => string | undefined
  readonly heardAt?: () => number
}

/** What every log has, whatever engine holds it: an identity, a fence, and an end. */
export function createEventStore<Head extends PositionOrStart | Promise<PositionOrStart>>(
  store: EventLog<Head>,
  { name, firstEventWritten, filling, fenceDelayMs, appended, diskErrorMessage, heardAt }: EventLogDescription,
): EventStore<Head> {
  const isUnborn = firstEventWritten === 'at its first append' && !filling
  const identity = new LogIdentity(store, name, isUnborn)
  /** What can't be stored makes no log either. */
  const before = async (appends: readonly Append[]) => {
    if (identity.isKnown) return
    for (const append of appends) validateStorable(append)
    await identity.get()
  }
  const whole: EventStore<Head> = {
    ...store,
    ...(isUnborn || appended !== undefined ? wrapAppends(store, isUnborn ? before : undefined, appended) : {}),
    identity: () => identity.get(),
    closedReason: () => readClosedReason(store, firstEventWritten === 'with its file' ? 'is being filled' : 'is new'),
    diskErrorMessage: async () => diskErrorMessage?.(),
    fenceDelayMs,
    ...(heardAt !== undefined && { heardAt }),
  }
  return withClosing(whole, name)
}

const wrapAppends = (
  store: Pick<EventLog, 'append' | 'appendMany'>,
  before: ((appends: readonly Append[]) => Promise<void>) | undefined,
  appended: EventLogDescription['appended'],
): Pick<EventLog, 'append' | 'appendMany'> => ({
  async append(stream, expected, events) {
    await before?.([{ stream, expected, events }])
    const position = await store.append(stream, expected, events)
    appended?.(stream)
    return position
  },
  async appendMany(appends, ...asked) {
    if (appends.length > 0) await before?.(appends)
    const positions = await store.appendMany(appends, ...asked)
    for (const { stream } of appends) appended?.(stream)
    return positions
  },
})
