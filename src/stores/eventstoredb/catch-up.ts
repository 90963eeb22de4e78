import { START, streamNameFilter, type Filter as AllFilter } from '@eventstore/db-client'
import {
  comparePositions,
  type SubscriptionBatch,
  type StreamFilter,
  type PositionOrStart,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import { toStoredEvent } from './encoding.ts'
import { StreamBuffer, type BufferedBatch } from './stream-buffer.ts'
import { CHECKPOINT_INTERVAL, NON_SYSTEM_STREAMS, type LiveFeed } from './live-feed.ts'
import { LEADER_ONLY } from './node.ts'
import { READ_AHEAD, type EventReader } from './reader.ts'
import type { Timing } from './timing.ts'

type CatchUpOptions = {
  readonly connection: EventStoreDBConnection
  readonly reader: EventReader
  readonly feed: LiveFeed
  readonly readHead: () => Promise<PositionOrStart>
  readonly timing: Timing
}

/**
 * Reads events too old for the live feed by a subscription that the server filters, until the feed covers the position
 * of the last batch.
 * @param signal ends it
 * @throws the client's error if the subscription breaks; resume from the last batch
 */
export async function* catchUp(
  options: CatchUpOptions,
  from: PositionOrStart,
  streams: StreamFilter | undefined,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionBatch> {
  const { connection, feed, readHead, timing } = options
  // The server's "caught up" refers to a later time than this.
  const head = await readHead()
  const checkpointReached = (_: unknown, position: Position) => inbox.checkpointReached(position)
  const filter = toServerFilter(streams, { checkpointReached, checkpointInterval: CHECKPOINT_INTERVAL })
  const node = await connection.node()
  const inbox = new StreamBuffer(
    node.client.subscribeToAll({ ...LEADER_ONLY, fromPosition: from === 'start' ? START : from, filter }, READ_AHEAD),
    node,
  )
  const close = () => inbox.close()
  signal.addEventListener('abort', close)
  const progress = new CatchUpProgress(from)
  try {
    if (signal.aborted) return
    while (!feed.tail.covers(progress.position)) {
      const arrival = await inbox.next(timing.silenceMs)
      if (arrival === 'end') return
      if (arrival === 'silence') return yield* readRemaining(options, progress, streams)
      yield progress.batchOf(arrival)
      if (arrival.caughtUp) return yield progress.batch([], head)
    }
  } catch (error) {
    connection.reportFailure(node, error)
    throw error
  } finally {
    signal.removeEventListener('abort', close)
    inbox.close()
  }
}

/**
 * Reads the remaining events up to the head: servers before 23.10 do not report that a subscription has caught up, and
 * a subscription may have died silently.
 */
async function* readRemaining(
  { reader, readHead }: CatchUpOptions,
  progress: CatchUpProgress,
  streams: StreamFilter | undefined,
): AsyncGenerator<SubscriptionBatch> {
  const head = await readHead()
  for await (const event of reader.readAll(progress.position, head, streams)) {
    if (progress.isNew(event)) yield progress.batch([event], event.position)
  }
  yield progress.batch([], head)
}

class CatchUpProgress {
  #position: PositionOrStart
  /** The last event yielded. Checkpoints may be before it, and the server may repeat events. */
  #lastYielded: PositionOrStart

  constructor(from: PositionOrStart) {
    this.#position = from
    this.#lastYielded = from
  }

  get position(): PositionOrStart {
    return this.#position
  }

  isNew({ position }: StoredEvent): boolean {
    return comparePositions(position, this.#lastYielded) > 0
  }

  batchOf({ events, checkpoint }: BufferedBatch): SubscriptionBatch {
    const fresh: StoredEvent[] = []
    for (const event of events) {
      const stored = toStoredEvent(event)
      if (stored === undefined || !this.isNew(stored)) continue
      fresh.push(stored)
      this.#lastYielded = stored.position
    }
    return this.batch(fresh, laterPosition(this.#lastYielded, checkpoint ?? this.#position))
  }

  batch(events: readonly StoredEvent[], position: PositionOrStart): SubscriptionBatch {
    this.#lastYielded = laterPosition(this.#lastYielded, events.at(-1)?.position ?? 'start')
    this.#position = laterPosition(this.#position, position)
    return { events, position: this.#position, caughtUp: false }
  }
}

/** The later of two positions. */
const laterPosition = (a: PositionOrStart, b: PositionOrStart | Position): PositionOrStart =>
  comparePositions(a, b) >= 0 ? a : b

type CheckpointOptions = Required<Pick<AllFilter, 'checkpointReached' | 'checkpointInterval'>>

const toServerFilter = (filter: StreamFilter | undefined, checkpoints: CheckpointOptions) =>
  filter === undefined || filter.prefixes.includes(EMPTY_PREFIX)
    ? streamNameFilter({ ...checkpoints, regex: NON_SYSTEM_STREAMS.source })
    : streamNameFilter({ ...checkpoints, prefixes: [...filter.prefixes] })

/** A prefix of every stream name, including those of the server's own streams. */
const EMPTY_PREFIX = ''
