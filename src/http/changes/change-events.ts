import type { ApiVersion } from '../../domain/diamond/field.ts'
import type { Change, ChangeFeed, ChangePage } from '../../projections/diamonds/change-feed.ts'

/** Milliseconds after which a connection without news carries a comment, so that nobody between takes it for dead. */
const QUIET = 15_000

/** Changes that are read at a time: so many are in memory for each connection. */
export const CHANGES_AT_ONCE = 50

const COMMENT = ':\n\n'

/** Whose feed, and until when. */
export type Following = {
  readonly feed: Pick<ChangeFeed, 'after' | 'changed' | 'stopped'>
  readonly version: ApiVersion
  readonly account: number
  readonly over: AbortSignal
}

/**
 * The feed as Server-Sent Events: what there is, then what comes, until it is over or the service stops.
 * @param first the page that it begins with
 */
export async function* changeEvents({ feed, version, account, over }: Following, first: ChangePage) {
  yield COMMENT
  for (let page = first; ; page = await feed.after(version, account, page.next, CHANGES_AT_ONCE)) {
    for (const change of page.changes) yield eventOf(change)
    if (!page.more) {
      await feed.changed(account, page.next, QUIET, over)
      if (page.changes.length === 0) yield COMMENT
    }
    if (over.aborted || feed.stopped) return
  }
}

const eventOf = ({ cursor, text }: Change) => `id: ${cursor}\nevent: change\ndata: ${text}\n\n`
