import { comparePositions, type From, type Position } from '../ports/event-store.ts'

/** An event as far as the head is concerned. */
export type Seen = { readonly position: Position; readonly isOurs: boolean }

/** Reads so many events backwards, the newest first, from the end or from before a position. */
export type ReadBack = (from: Position | 'end', count: number) => Promise<readonly Seen[]>

/** Events a page: most often the very newest one is ours, and only what the server writes itself lies behind it. */
const FIRST_PAGES = [1, 32, 1_024]
const PAGE = 4_096

/**
 * Where the newest event stands that is not the server's own. Any number of those may lie behind it: the standard
 * projections, switched on over a log, write several for each event there is. So what was looked through once is
 * remembered, and each look goes back to there and no further.
 */
export class Head {
  #newest: From = 'start'
  /** Up to here, nothing of ours lies behind `#newest`. */
  #looked: From = 'start'

  constructor(private readonly readBack: ReadBack) {}

  /**
   * Takes note of an event of ours.
   * @param looked a place up to which nothing of ours lies behind it, such as a checkpoint of the server's
   */
  exists(position: From, looked: From = position): void {
    if (comparePositions(position, this.#newest) > 0) this.#newest = position
    if (comparePositions(looked, this.#looked) > 0) this.#looked = looked
  }

  /** @throws what `readBack` does */
  async find(): Promise<From> {
    const before = { newest: this.#newest, looked: this.#looked }
    let from: Position | 'end' = 'end'
    let end: From | undefined
    for (let pages = 0; ; pages++) {
      const count = FIRST_PAGES[pages] ?? PAGE
      const page: readonly Seen[] = await this.readBack(from, count)
      end ??= page[0]?.position ?? 'start'
      const ours = page.find(({ isOurs }) => isOurs)
      const oldest = page.at(-1)?.position
      if (ours !== undefined) return this.#found(ours.position, end, before.newest)
      if (oldest === undefined || page.length < count) return this.#found('start', end, before.newest)
      // A log that ends before what was looked at has been put back: nothing of that counts any more.
      const isKnown = comparePositions(end, before.looked) >= 0
      if (isKnown && comparePositions(oldest, before.looked) <= 0) return this.#found(before.newest, end, before.newest)
      from = oldest
    }
  }

  /** What was appended in the meantime is newer still. */
  #found(newest: From, looked: From, before: From): From {
    if (comparePositions(this.#newest, before) > 0) return this.#newest
    this.#newest = newest
    this.#looked = looked
    return newest
  }
}
