import { CursorLost } from '../../projections/diamonds/change-cursor.ts'
import type { Change, ChangeFeed } from '../../projections/diamonds/change-feed.ts'

/** What is pushed: the feed that can be asked for as well, in v4. */
export type PushedFeed = {
  /** What came behind a cursor; where that was lost by a restore, behind the place that the feed went back to. */
  after(
    account: number,
    cursor: string,
    limit: number,
  ): Promise<{ readonly changes: readonly Change[]; readonly next: string }>
  /** Resolves when there may be something behind a cursor, after so many milliseconds, or when it is aborted. */
  changed(account: number, cursor: string, ms: number, signal: AbortSignal): Promise<void>
}

/** Nobody is there to be told that a cursor is lost: the receiver finds what is gone by comparing with the list. */
export const pushedFeed = (feed: Pick<ChangeFeed, 'after' | 'changed'>): PushedFeed => ({
  async after(account, cursor, limit) {
    try {
      return await feed.after('v4', account, cursor, limit)
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error
      return feed.after('v4', account, error.restart, limit)
    }
  },
  changed: (account, cursor, ms, signal) => feed.changed(account, cursor, ms, signal),
})
