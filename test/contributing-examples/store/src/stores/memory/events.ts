import { COPY_STREAM, LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import { createEventStore } from '../log/event-store.ts'
import { serializeData, serializeMetadata, validateStorable } from '../log/event-serialization.ts'
import { deriveClosedReason, refusalOf } from '../log/fence.ts'
import { WakeSignal } from '../log/wake-signal.ts'
import {
  comparePositions,
  passesFilter,
  WrongRevision,
  type Append,
  type SubscriptionBatch,
  type EventLog,
  type EventStore,
  type StreamFilter,
  type PositionOrStart,
  type NewEvent,
  type Position,
  type StoredEvent,
  type Subscription,
} from '../ports/event-store.ts'

/** An event store in memory. @param isCopyTarget accept appends before the log is complete, as the target of a copy */
export function openMemoryEvents({ isCopyTarget = false }: { readonly isCopyTarget?: boolean } = {}): EventStore {
  const log = new MemoryLog(isCopyTarget)
  const store: EventLog = {
    isAppendManyAtomic: true,
    async append(stream, expected, events) {
      const [position] = log.append([{ stream, expected, events }])
      if (position === undefined) throw new Error('an append has one position')
      return position
    },
    appendMany: async (appends) => log.append(appends),
    readStream: async (stream, { last = Infinity } = {}) => log.stream(stream).slice(-last),
    async *readAll(from, filter) {
      yield* log.after(from, filter)
    },
    subscribe: (from, filter) => new MemorySubscription(log, from, filter),
    head: async () => log.head,
    isHeadLocal: true,
    eventAt: async (position) => log.at(position),
    close: async () => undefined,
  }
  return createEventStore(store, {
    name: 'the log in memory',
    firstEventWritten: 'on first append',
    isCopyTarget,
    fenceDelayMs: 0,
  })
}

/** The events in order. Both numbers of a position count from 1. */
class MemoryLog {
  readonly #events: StoredEvent[] = []
  readonly #streams = new Map<string, StoredEvent[]>()
  readonly #followers = new Set<WakeSignal>()

  constructor(private readonly isCopyTarget: boolean) {}

  get head(): PositionOrStart {
    return this.#events.at(-1)?.position ?? 'start'
  }

  at({ commit, prepare }: Position): StoredEvent | undefined {
    return commit === prepare ? this.#events[Number(commit) - 1] : undefined
  }

  stream(name: string): readonly StoredEvent[] {
    return this.#streams.get(name) ?? []
  }

  after(from: PositionOrStart, filter: StreamFilter | undefined): StoredEvent[] {
    const start = from === 'start' ? 0 : Number(from.commit)
    return this.#events.slice(start).filter((event) => passesFilter(event, filter))
  }

  /** Appends all or none. @throws TypeError, LogClosed, WrongRevision */
  append(appends: readonly Append[]): Position[] {
    for (const append of appends) validateStorable(append)
    for (const append of appends) this.#requireOpen(append)
    const before = this.#events.length
    try {
      return appends.map((append) => this.#appendOne({ ...append, events: append.events.map(asStored) }))
    } catch (error) {
      for (const { stream } of this.#events.splice(before)) this.#streams.get(stream)?.pop()
      throw error
    } finally {
      for (const signal of this.#followers) signal.notify()
    }
  }

  follow(signal: WakeSignal): () => void {
    this.#followers.add(signal)
    return () => this.#followers.delete(signal)
  }

  #requireOpen({ stream, events }: Append): void {
    if (this.isCopyTarget) return
    const closed = deriveClosedReason(this.stream(LOG_STREAM).at(-1), this.stream(COPY_STREAM), 'new')
    const refusal = refusalOf(
      closed,
      stream,
      events.map(({ type }) => type),
    )
    if (refusal !== undefined) throw refusal
  }

  #appendOne({ stream, expected, events }: Append): Position {
    const stored = this.#streams.get(stream) ?? []
    const actual = stored.at(-1)?.revision ?? 'none'
    if (actual !== expected) {
      const repeated = repeatIn(stored, { stream, expected, events })
      if (repeated === undefined) throw new WrongRevision(stream, expected, actual)
      return repeated.position
    }
    this.#streams.set(stream, stored)
    for (const event of events) {
      const place = BigInt(this.#events.length + 1)
      const revision = BigInt(stored.length)
      const one: StoredEvent = { ...event, stream, revision, position: { commit: place, prepare: place } }
      this.#events.push(one)
      stored.push(one)
    }
    const place = BigInt(this.#events.length)
    return { commit: place, prepare: place }
  }
}

/** The event as a reader gets it: reduced to JSON and independent of later changes to the original. */
const asStored = (event: NewEvent): NewEvent => ({
  id: event.id.toLowerCase(),
  type: event.type,
  data: JSON.parse(serializeData(event)) as NewEvent['data'],
  metadata: JSON.parse(serializeMetadata(event)) as NewEvent['metadata'],
})

/** The last of these events if the stream already has all of them after the expected revision: the append is a repeat. */
function repeatIn(stored: readonly StoredEvent[], { expected, events }: Append): StoredEvent | undefined {
  const first = expected === 'none' ? 0 : Number(expected) + 1
  const existing = stored.slice(first, first + events.length)
  const isRepeat = existing.length === events.length && existing.every(({ id }, index) => id === events[index]?.id)
  return isRepeat ? existing.at(-1) : undefined
}

/** Reads a batch only after the previous one was consumed. */
class MemorySubscription implements Subscription {
  readonly #signal = new WakeSignal()
  #isStopped = false

  constructor(
    private readonly log: MemoryLog,
    private readonly from: PositionOrStart,
    private readonly filter: StreamFilter | undefined,
  ) {}

  stop(): void {
    this.#isStopped = true
    this.#signal.notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionBatch, void, undefined> {
    const leave = this.log.follow(this.#signal)
    let position: PositionOrStart | undefined
    try {
      while (!this.#isStopped) {
        this.#signal.reset()
        const head = this.log.head
        const from = position ?? this.from
        if (position === undefined || comparePositions(head, from) > 0) {
          yield { events: this.log.after(from, this.filter), position: head, caughtUp: true }
        }
        position = head
        await this.#signal.wait()
      }
    } finally {
      leave()
    }
  }
}
