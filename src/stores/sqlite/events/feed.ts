import { passesFilter, type Filter } from '../../ports/event-store.ts'
import { turns } from '../changes.ts'
import type { Group } from './writer.ts'
import type { LogFile } from './connection.ts'
import { PAGE, readPage } from './reader.ts'
import { positionAt, storedEvents } from './rows.ts'
import type { Reading, Source } from './subscription.ts'
import { Tail } from './tail.ts'

/** Knows the head of the log, and wakes the subscriptions when it moves. */
export class Feed {
  readonly #log: LogFile
  readonly #tail = new Tail()
  readonly #followers = new Set<() => void>()
  #head = 0
  #version = -1
  readonly #turn = turns()
  #lookedIn = -1

  constructor(log: LogFile) {
    this.#log = log
    this.look()
  }

  /**
   * The newest position, of any process. What other processes committed changes SQLite's data_version, which is asked
   * once a turn; this one's own commits don't change it: https://sqlite.org/pragma.html#pragma_data_version
   * @throws StoreUnavailable
   */
  look(): number {
    const turn = this.#turn()
    if (turn === this.#lookedIn) return this.#head
    const head = this.#log.use((connection) => {
      const version = connection.dataVersion.get() ?? 0
      if (version === this.#version) return this.#head
      const found = connection.lastPosition.get() ?? 0
      this.#version = version
      return found
    })
    this.#lookedIn = turn
    this.#move(head)
    return head
  }

  /** Takes the events of an own commit to the subscriptions without reading them. */
  committed({ before, head, written }: Group, bytes: number): void {
    if (this.#followers.size > 0 && head > before) {
      this.#tail.add({ before, head, events: written.flatMap(({ append, last }) => storedEvents(append, last)), bytes })
    }
    this.#move(head)
  }

  source(filter: Filter | undefined): Source {
    return {
      next: (position) => this.#next(position, filter),
      follow: (wake) => {
        this.#followers.add(wake)
        return () => this.#leave(wake)
      },
    }
  }

  #next(position: number, filter: Filter | undefined): Reading {
    const kept = position < this.#head ? this.#tail.behind(position, PAGE) : []
    const end = kept === undefined ? Math.min(position + PAGE, this.#head) : position + kept.length
    const events =
      kept === undefined
        ? readPage(this.#log, position, end, filter)
        : kept.filter((event) => passesFilter(event, filter))
    const from = end === 0 ? 'start' : positionAt(end)
    const last = kept?.at(-1)
    return {
      batch: { events, position: from, caughtUp: end >= this.#head, ...(last && { last }) },
      position: end,
      inMemory: kept !== undefined,
    }
  }

  #leave(wake: () => void): void {
    this.#followers.delete(wake)
    if (this.#followers.size === 0) this.#tail.clear()
  }

  #move(head: number): void {
    if (head === this.#head) return
    this.#head = head
    for (const wake of this.#followers) wake()
  }
}
