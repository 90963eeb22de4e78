import { randomUUID } from 'node:crypto'
import { LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import {
  StoreMisconfigured,
  StoreUnavailable,
  WrongRevision,
  type Append,
  type EventLog,
  type EventStore,
  type NewEvent,
  type Subscription,
} from '../ports/event-store.ts'
import { validateStorable } from './event-serialization.ts'
import { isFenceStream, readClosedReason } from './fence.ts'

/** The log's first event. It assigns the log's identity. */
export function createLogCreatedEvent(): NewEvent {
  const metadata = { actor: 'system', via: 'store', schema: '1', at: new Date().toISOString() }
  return { id: randomUUID(), type: 'LogCreated', data: { identity: randomUUID() }, metadata }
}

/** Foreign streams that an error names. */
const NAMED_STREAMS = 3
/** Events read to find them after the first: about a second. */
const MAX_EVENTS_SCANNED = 20_000

/**
 * Some of the streams of another application in a log without LogCreated. The server's own streams and events, whose
 * names begin with `$`, are none; nor are the streams of a copy that has just begun.
 */
async function findForeignStreams(store: Pick<EventLog, 'head' | 'readAll'>): Promise<readonly string[]> {
  // Usually the database is new, and may have many events of the server.
  if ((await store.head()) === 'start') return []
  const streams = new Set<string>()
  let scanned = 0
  for await (const { stream, type } of store.readAll('start')) {
    if (!type.startsWith('$') && !isFenceStream(stream)) streams.add(stream)
    if (streams.size === NAMED_STREAMS || (streams.size > 0 && ++scanned > MAX_EVENTS_SCANNED)) break
  }
  return [...streams]
}

/** Reads the log's identity once. Creates it if the log has none and `mayCreate` is true. */
class LogIdentity {
  #identity: Promise<string> | undefined
  #isKnown = false

  constructor(
    private readonly store: Pick<EventLog, 'readStream' | 'append' | 'head' | 'readAll'>,
    private readonly name: string,
    private readonly mayCreate: boolean,
  ) {}

  get isKnown(): boolean {
    return this.#isKnown
  }

  /** @throws StoreMisconfigured if the log is another application's; StoreUnavailable, OutcomeUnknown */
  get(): Promise<string> {
    this.#identity ??= this.#readOrCreate().catch((error: unknown) => {
      this.#identity = undefined
      throw error
    })
    return this.#identity
  }

  async #readOrCreate(): Promise<string> {
    for (;;) {
      const [first] = await this.store.readStream(LOG_STREAM)
      if (first !== undefined) return this.#identityOf(first)
      if (!this.mayCreate) throw new StoreUnavailable(`${this.name} has no LogCreated event`)
      const foreignStreams = await findForeignStreams(this.store)
      // Another process may have created the log meanwhile.
      if (foreignStreams.length > 0 && (await this.store.readStream(LOG_STREAM)).length === 0)
        throw this.#foreignLogError(`has events in ${foreignStreams.join(', ')}, but no LogCreated`)
      const event = createLogCreatedEvent()
      try {
        await this.store.append(LOG_STREAM, 'none', [event])
        return this.#identityOf(event)
      } catch (error) {
        // Another process created the log first: read its identity.
        if (!(error instanceof WrongRevision)) throw error
      }
    }
  }

  #identityOf({ type, data }: NewEvent): string {
    const { identity } = data
    this.#isKnown = type === 'LogCreated' && typeof identity === 'string'
    if (this.#isKnown) return String(identity)
    throw this.#foreignLogError(`has a stream ${LOG_STREAM} that does not begin with LogCreated`)
  }

  #foreignLogError(reason: string): StoreMisconfigured {
    return new StoreMisconfigured(
      `${this.name} ${reason}: the database belongs to another application, or its stream ${LOG_STREAM} was deleted. ` +
        'Nothing was written. A server has one database: start a separate server for this service, and set EVENT_STORE ' +
        'to its address',
      { store: this.name },
    )
  }
}

/**
 * Rejects calls once the store has been closed. Closing waits for pending appends, ends the subscriptions, then closes
 * the store.
 * @param name the log's display name
 */
function withClosing(store: EventStore, name: string): EventStore {
  const appends = new PendingCalls()
  const subscriptions = new ActiveSubscriptions()
  let closing: Promise<void> | undefined

  function requireOpen(): void {
    if (closing !== undefined) throw new StoreUnavailable(`${name} is closed`)
  }

  const whenOpen =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      requireOpen()
      return call(...args)
    }

  async function drainAndClose(): Promise<void> {
    await appends.drained()
    subscriptions.stop()
    await store.close()
  }

  return {
    ...store,
    append: whenOpen((...args) => appends.track(store.append(...args))),
    appendMany: whenOpen((...args) => appends.track(store.appendMany(...args))),
    readStream: whenOpen(store.readStream),
    async *readAll(...args) {
      requireOpen()
      yield* store.readAll(...args)
    },
    subscribe(...args) {
      requireOpen()
      return subscriptions.track(store.subscribe(...args))
    },
    head: whenOpen(store.head),
    eventAt: whenOpen(store.eventAt),
    identity: whenOpen(store.identity),
    closedReason: whenOpen(store.closedReason),
    diskErrorMessage: whenOpen(store.diskErrorMessage),
    close: () => (closing ??= drainAndClose()),
  }
}

/** Counts pending calls, so that closing can wait for them. */
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
    return new Promise((resolve) => (this.#drained = resolve))
  }
}

/**
 * The subscriptions that are being iterated. A subscription is removed when its iteration ends, because a service
 * subscribes again after every interruption.
 */
class ActiveSubscriptions {
  readonly #subscriptions = new Set<Subscription>()
  #isStopped = false

  track(subscription: Subscription): Subscription {
    const iterate = () => this.#iterate(subscription)
    return { stop: () => subscription.stop(), [Symbol.asyncIterator]: iterate }
  }

  /** Permanent: subscriptions started later end immediately. */
  stop(): void {
    this.#isStopped = true
    for (const subscription of this.#subscriptions) subscription.stop()
  }

  async *#iterate(subscription: Subscription) {
    if (this.#isStopped) subscription.stop()
    this.#subscriptions.add(subscription)
    try {
      yield* subscription
    } finally {
      this.#subscriptions.delete(subscription)
    }
  }
}

type EventLogDescription = {
  readonly name: string
  /** When LogCreated is written: when the file is created, or by the first process that appends to a server's log. */
  readonly firstEventWritten: 'on creation' | 'on first append'
  /** The log is being filled: its first event is copied into it, and it accepts appends in any state. */
  readonly isCopyTarget: boolean
  readonly fenceDelayMs: number
  /** Called after each append of this process, before its caller's promise resolves. */
  readonly onAppended?: (stream: string) => void
  readonly diskErrorMessage?: () => Promise<string | undefined>
  readonly lastResponseAt?: () => number
}

/** Adds to an engine's log the parts that do not depend on the engine: identity, fence and closing. */
export function createEventStore(
  store: EventLog,
  {
    name,
    firstEventWritten,
    isCopyTarget,
    fenceDelayMs,
    onAppended,
    diskErrorMessage,
    lastResponseAt,
  }: EventLogDescription,
): EventStore {
  const isCreatedByFirstAppend = firstEventWritten === 'on first append' && !isCopyTarget
  const identity = new LogIdentity(store, name, isCreatedByFirstAppend)
  /** Validates first, so that an invalid append does not create a log. */
  const ensureLogExists = async (appends: readonly Append[]) => {
    if (identity.isKnown) return
    for (const append of appends) validateStorable(append)
    await identity.get()
  }
  const eventStore: EventStore = {
    ...store,
    ...(isCreatedByFirstAppend || onAppended !== undefined
      ? wrapAppends(store, isCreatedByFirstAppend ? ensureLogExists : undefined, onAppended)
      : {}),
    identity: () => identity.get(),
    closedReason: () => readClosedReason(store, firstEventWritten === 'on creation' ? 'filling' : 'new'),
    diskErrorMessage: async () => diskErrorMessage?.(),
    fenceDelayMs,
    ...(lastResponseAt !== undefined && { lastResponseAt }),
  }
  return withClosing(eventStore, name)
}

const wrapAppends = (
  store: Pick<EventLog, 'append' | 'appendMany'>,
  beforeAppend: ((appends: readonly Append[]) => Promise<void>) | undefined,
  onAppended: EventLogDescription['onAppended'],
): Pick<EventLog, 'append' | 'appendMany'> => ({
  async append(stream, expected, events) {
    await beforeAppend?.([{ stream, expected, events }])
    const position = await store.append(stream, expected, events)
    onAppended?.(stream)
    return position
  },
  async appendMany(appends, ...args) {
    if (appends.length > 0) await beforeAppend?.(appends)
    const positions = await store.appendMany(appends, ...args)
    for (const { stream } of appends) onAppended?.(stream)
    return positions
  },
})
