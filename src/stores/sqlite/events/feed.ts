import { setImmediate as nextTick } from 'node:timers/promises'
import type { SubscriptionSource } from '../../log/subscription.ts'
import { LogTail } from '../../log/tail.ts'
import {
  DamagedStore,
  StoreUnavailable,
  type PositionOrStart,
  type StoredEvent,
  type StreamFilter,
  type SubscriptionBatch,
} from '../../ports/event-store.ts'
import type { WarningLogger } from '../../../runtime/logger.ts'
import { countTurns } from '../change-detection.ts'
import type { EventLogFile } from './connection.ts'
import { decodeRows, positionAt, rowsOf } from './rows.ts'
import type { CommittedGroup } from './writer.ts'

/** Positions read per turn of the event loop. */
const PAGE = 1000

/** @throws StoreUnavailable */
export function readStream(log: EventLogFile, stream: string, last: number | undefined): StoredEvent[] {
  return log.use((connection) => {
    if (last === undefined) return decodeRows(connection.stream.all(stream))
    return decodeRows(connection.newest.all(stream, last).reverse())
  })
}

/** @throws StoreUnavailable */
export function readPage(log: EventLogFile, from: number, to: number, filter: StreamFilter | undefined): StoredEvent[] {
  return log.use((connection) => decodeRows(connection.page(from, to, filter?.prefixes)))
}

/** Each page is a separate statement, so that a long read does not block checkpoints. */
export async function* readPages(
  log: EventLogFile,
  from: number,
  to: number,
  filter: StreamFilter | undefined,
): AsyncGenerator<StoredEvent> {
  for (let start = from; start < to; start += PAGE) {
    if (start > from) await nextTick()
    yield* readPage(log, start, Math.min(start + PAGE, to), filter)
  }
}

/** Limits of the newest events kept in memory for subscriptions near the head. */
const TAIL_LIMITS = { maxEvents: 5_000, maxBytes: 32 * 1024 * 1024 }

const BACK_OFF = { firstPauseMs: 100, longestPauseMs: 100 }

/** The head of the log, and the newest events of this process's commits. */
export class SqliteLiveFeed {
  readonly #tail = new LogTail(TAIL_LIMITS)
  /** The newest position of any process. */
  #head = 0
  /** Up to where subscriptions may read: the end of the tail. */
  #delivered = 0
  #version = -1
  readonly #turn = countTurns()
  #checkedInTurn = -1

  /** @param isWriting whether this process's appends are under way: the file can contain them already */
  constructor(
    private readonly log: EventLogFile,
    private readonly warn: WarningLogger,
    private readonly isWriting: () => boolean,
  ) {
    this.#tail.startAt('start')
    this.refreshHead()
  }

  /**
   * The newest position of any process. Commits of other connections change SQLite's data_version, which is checked once
   * per turn: https://sqlite.org/pragma.html#pragma_data_version
   * @throws StoreUnavailable
   */
  refreshHead(): number {
    const turn = this.#turn()
    if (turn === this.#checkedInTurn) return this.#head
    const head = this.log.use((connection) => {
      const version = connection.dataVersion.get() ?? 0
      if (version === this.#version) return this.#head
      const found = connection.lastPosition.get() ?? 0
      this.#version = version
      return found
    })
    this.#checkedInTurn = turn
    this.#head = head
    if (head !== this.#delivered && !this.isWriting()) {
      // Another process has written: subscriptions read its events from the file.
      this.#tail.startAt(positionOrStart(head))
      this.#deliver(head)
    }
    return head
  }

  /** Passes the events of this process's commit to the subscriptions, so that they need not read the file. */
  onCommitted({ before, head, appends }: CommittedGroup, bytes: number): void {
    if (head === before) return
    const events = this.#tail.isFollowed ? decodeRows(appends.flatMap(writtenRows)) : []
    this.#tail.add({ before: positionOrStart(before), end: positionAt(head), events, bytes })
    this.#tail.trim()
    this.#head = Math.max(this.#head, head)
    this.#deliver(head)
  }

  readonly source: SubscriptionSource = {
    batchAfter: (position, filter) => this.#tail.batchAfter(position, filter),
    follow: async (wake) => this.#tail.follow(wake),
    catchUp: (from, filter) => this.#readPages(numberOf(from), filter),
    onFailure: (error) => {
      if (!(error instanceof StoreUnavailable) || error instanceof DamagedStore) throw error
      this.warn({ err: error, repeats: true }, 'reading the log for a subscription failed; retrying')
    },
    backOff: BACK_OFF,
  }

  async *#readPages(from: number, filter: StreamFilter | undefined): AsyncGenerator<SubscriptionBatch> {
    for (let position = from; !this.#tail.covers(positionOrStart(position)); await nextTick()) {
      const end = Math.min(position + PAGE, this.#delivered)
      const events = readPage(this.log, position, end, filter)
      yield { events, position: positionOrStart(end), caughtUp: end >= this.#delivered }
      position = end
    }
  }

  #deliver(head: number): void {
    this.#delivered = head
    this.#tail.wakeFollowers()
  }
}

const writtenRows = ({ append, last }: CommittedGroup['appends'][number]) => rowsOf(append, last - append.events.length)

export const numberOf = (from: PositionOrStart): number => (from === 'start' ? 0 : Number(from.commit))

const positionOrStart = (position: number): PositionOrStart => (position === 0 ? 'start' : positionAt(position))
